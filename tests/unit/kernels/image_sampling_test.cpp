// Samplers of every kind on images of every kind, against the oracle.

#include <cmath>

#include "image_fixture.hpp"
#include "image_oracle.hpp"

namespace zevent::driver::test {
namespace {

struct image_case {
  const char* kernel;
  ze_image_type_t type;
  std::array<uint32_t, 3> size;
  size_t spatial_axes;
  bool is_array;
};

class image_sampling : public image_fixture {
 protected:
  static constexpr size_t place_count = 300;

  static ze_image_desc_t desc_of(const image_case& each, ze_image_format_layout_t layout,
                                 ze_image_format_type_t type) {
    const auto [width, height, depth] = each.size;
    switch (each.type) {
      case ZE_IMAGE_TYPE_1DARRAY:
        return image_desc(each.type, layout, type, width, 1, 1, height);
      case ZE_IMAGE_TYPE_2DARRAY:
        return image_desc(each.type, layout, type, width, height, 1, depth);
      default:
        return image_desc(each.type, layout, type, width, height, depth);
    }
  }

  static std::vector<ze_sampler_desc_t> all_samplers() {
    std::vector<ze_sampler_desc_t> all;
    for (uint32_t mode = ZE_SAMPLER_ADDRESS_MODE_NONE; mode <= ZE_SAMPLER_ADDRESS_MODE_MIRROR;
         ++mode) {
      for (const auto filter : {ZE_SAMPLER_FILTER_MODE_NEAREST, ZE_SAMPLER_FILTER_MODE_LINEAR}) {
        for (const bool is_normalized : {false, true}) {
          ze_sampler_desc_t desc = {};
          desc.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
          desc.addressMode = static_cast<ze_sampler_address_mode_t>(mode);
          desc.filterMode = filter;
          desc.isNormalized = is_normalized;
          all.push_back(desc);
        }
      }
    }
    return all;
  }

  // Places in and around the image, none of which is at the edge of a pixel.
  void choose_places(const image_case& each, const ze_sampler_desc_t& sampler,
                     std::array<float, 4>* places) {
    const bool stays_inside = sampler.addressMode == ZE_SAMPLER_ADDRESS_MODE_NONE;
    for (size_t i = 0; i < place_count; ++i) {
      for (size_t axis = 0; axis < 3; ++axis) {
        const auto size = static_cast<double>(each.size[axis]);
        if (axis == each.spatial_axes && each.is_array) {
          places[i][axis] = static_cast<float>(random_() % (each.size[axis] + 2)) - 0.75F;
          continue;
        }
        const double pixels = stays_inside ? size - 1 : 3 * size;
        const double position = static_cast<double>(random_() % 1000) / 1000 * pixels +
                                (stays_inside ? 0.5 : -size) + 1.0 / 2048;
        places[i][axis] =
            static_cast<float>(sampler.isNormalized != 0 ? position / size : position);
      }
    }
  }
};

TEST_F(image_sampling, gives_what_the_rules_of_addressing_and_filtering_say) {
  const image_case cases[] = {
      {"sample_1d", ZE_IMAGE_TYPE_1D, {11, 1, 1}, 1, false},
      {"sample_1d_array", ZE_IMAGE_TYPE_1DARRAY, {9, 4, 1}, 1, true},
      {"sample_2d", ZE_IMAGE_TYPE_2D, {7, 5, 1}, 2, false},
      {"sample_2d", ZE_IMAGE_TYPE_2D, {8, 1, 1}, 2, false},
      {"sample_2d_array", ZE_IMAGE_TYPE_2DARRAY, {6, 5, 3}, 2, true},
      {"sample_3d", ZE_IMAGE_TYPE_3D, {5, 4, 3}, 3, false},
  };
  const auto module = module_of(images_spv);
  const oracle_format format = {ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16,
                                ZE_IMAGE_FORMAT_TYPE_UNORM,
                                8,
                                {{0, 16}, {16, 16}, {32, 16}, {48, 16}}};
  for (const image_case& each : cases) {
    const auto image = image_of(desc_of(each, format.layout, format.type));
    const auto bytes =
        random_bytes(size_t{each.size[0]} * each.size[1] * each.size[2] * format.pixel_bytes);
    fill(image, bytes.data());
    oracle_image oracle;
    for (size_t axis = 0; axis < 3; ++axis) oracle.size[axis] = each.size[axis];
    oracle.spatial_axes = each.spatial_axes;
    oracle.is_array = each.is_array;
    for (size_t i = 0; i < bytes.size(); i += format.pixel_bytes) {
      oracle.pixels.push_back(pixel_value(format, bytes.data() + i));
    }
    auto* places = shared_memory<std::array<float, 4>>(place_count);
    auto* read = shared_memory<std::array<float, 4>>(place_count);
    const auto kernel = kernel_of(module, each.kernel);
    for (const ze_sampler_desc_t& sampler : all_samplers()) {
      choose_places(each, sampler, places);
      set_all(kernel, image, sampler_of(sampler), places, read);
      run(kernel, 10, place_count / 10);
      for (size_t i = 0; i < place_count; ++i) {
        const auto expected = oracle.sample(
            sampler, {double{places[i][0]}, double{places[i][1]}, double{places[i][2]}});
        for (size_t channel = 0; channel < 4; ++channel) {
          ASSERT_NEAR(read[i][channel], expected[channel], 2e-5)
              << each.kernel << " mode " << sampler.addressMode << " filter " << sampler.filterMode
              << " normalised " << int{sampler.isNormalized} << " at " << places[i][0] << " "
              << places[i][1] << " " << places[i][2];
        }
      }
    }
  }
}

TEST_F(image_sampling, has_a_border_that_is_opaque_where_the_format_has_no_alpha) {
  const auto module = module_of(images_spv);
  ze_sampler_desc_t desc = {};
  desc.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
  desc.addressMode = ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
  const auto sampler = sampler_of(desc);
  auto* place = shared_memory<std::array<float, 4>>(1);
  place[0] = {-3.5F, 0.5F, 0, 0};
  auto* read = shared_memory<std::array<float, 4>>(1);
  const auto kernel = kernel_of(module, "sample_2d");
  const auto alpha_with = [&](ze_image_format_swizzle_t w) {
    ze_image_desc_t image = image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
                                       ZE_IMAGE_FORMAT_TYPE_UNORM, 2, 2);
    image.format.w = w;
    set_all(kernel, image_of(image), sampler, place, read);
    run(kernel, 1, 1);
    EXPECT_EQ(read[0][0], 0);
    return read[0][3];
  };
  EXPECT_EQ(alpha_with(ZE_IMAGE_FORMAT_SWIZZLE_A), 0.0F);
  EXPECT_EQ(alpha_with(ZE_IMAGE_FORMAT_SWIZZLE_1), 1.0F);
}

TEST_F(image_sampling, takes_integers_for_places_too) {
  const auto module = module_of(images_spv);
  const auto image = image_of(
      image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_UINT, 4, 3));
  std::array<uint32_t, 12> pixels{};
  for (uint32_t i = 0; i < pixels.size(); ++i) pixels[i] = 100 + i;
  fill(image, pixels.data());
  auto* places = shared_memory<std::array<int32_t, 4>>(4);
  places[0] = {1, 2, 0, 0};
  places[1] = {-1, 0, 0, 0};
  places[2] = {4, 9, 0, 0};
  places[3] = {3, 0, 0, 0};
  auto* read = shared_memory<std::array<uint32_t, 4>>(4);
  const auto kernel = kernel_of(module, "sample_integer_places");
  const auto expect = [&](ze_sampler_address_mode_t mode, std::array<uint32_t, 4> expected) {
    ze_sampler_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
    desc.addressMode = mode;
    set_all(kernel, image, sampler_of(desc), places, read);
    run(kernel, 2, 2);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(read[i][0], expected[i]) << "place " << i;
  };
  expect(ZE_SAMPLER_ADDRESS_MODE_CLAMP, {109, 100, 111, 103});
  expect(ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, {109, 0, 0, 103});
}

TEST_F(image_sampling, survives_places_that_are_no_numbers) {
  const auto module = module_of(images_spv);
  const auto image = image_of(
      image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8, ZE_IMAGE_FORMAT_TYPE_UNORM, 4, 3));
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto* places = shared_memory<std::array<float, 4>>(4);
  places[0] = {std::nanf(""), 0, 0, 0};
  places[1] = {infinity, -infinity, 0, 0};
  places[2] = {3e38F, -3e38F, 0, 0};
  places[3] = {1, infinity, 0, 0};
  auto* read = shared_memory<std::array<float, 4>>(4);
  const auto kernel = kernel_of(module, "sample_2d");
  for (const ze_sampler_desc_t& sampler : all_samplers()) {
    set_all(kernel, image, sampler_of(sampler), places, read);
    run(kernel, 4, 1);
  }
}

TEST_F(image_sampling, works_with_samplers_in_the_program_and_through_functions) {
  const auto module = module_of(images_spv);
  const auto image = image_of(
      image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_FLOAT, 4, 4));
  std::array<float, 16> pixels{};
  oracle_image oracle;
  oracle.size = {4, 4, 1};
  for (size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<float>(i * i);
    oracle.pixels.push_back({static_cast<double>(pixels[i]), 0, 0, 1});
  }
  fill(image, pixels.data());
  auto* places = shared_memory<std::array<float, 4>>(3);
  places[0] = {0.3F, 0.6F, 0, 0};
  places[1] = {1.5F, 0.25F, 0, 0};
  places[2] = {-1.5F, 3.5F, 0, 0};
  auto* read = shared_memory<std::array<float, 4>>(6);
  const auto kernel = kernel_of(module, "sample_with_own_sampler");
  set_all(kernel, image, places, read);
  run(kernel, 3, 1);
  ze_sampler_desc_t at_edge = {};
  at_edge.addressMode = ZE_SAMPLER_ADDRESS_MODE_CLAMP;
  at_edge.filterMode = ZE_SAMPLER_FILTER_MODE_LINEAR;
  at_edge.isNormalized = true;
  ze_sampler_desc_t beyond = {};
  beyond.addressMode = ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
  const auto mean = [&](const ze_sampler_desc_t& sampler, size_t i, double step) {
    const double x = places[i][0], y = places[i][1];
    return (oracle.sample(sampler, {x, y, 0})[0] +
            oracle.sample(sampler, {x + step, y + step, 0})[0]) /
           2;
  };
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(read[2 * i][0], mean(at_edge, i, 0.25), 1e-3) << i;
    EXPECT_NEAR(read[2 * i + 1][0], mean(beyond, i, 2), 1e-3) << i;
  }
}

}  // namespace
}  // namespace zevent::driver::test
