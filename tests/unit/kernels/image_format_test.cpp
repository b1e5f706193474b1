// Every format, read and written by kernels, against the oracle.

#include <cmath>

#include "image_fixture.hpp"
#include "image_oracle.hpp"

namespace zevent::driver::test {
namespace {

constexpr uint32_t width = 13, height = 7;
constexpr size_t pixel_count = size_t{width} * height;

class image_formats : public image_fixture {
 protected:
  static ze_image_desc_t desc_of(const oracle_format& format) {
    return image_desc(ZE_IMAGE_TYPE_2D, format.layout, format.type, width, height);
  }

  static std::string name_of(const oracle_format& format) {
    return "layout " + std::to_string(format.layout) + " type " + std::to_string(format.type);
  }

  static const char* with_type(const char* floats, const char* with_sign, const char* without,
                               ze_image_format_type_t type) {
    if (!is_integer(type)) return floats;
    return type == ZE_IMAGE_FORMAT_TYPE_SINT ? with_sign : without;
  }
};

TEST_F(image_formats, are_read_as_the_values_that_their_bits_mean) {
  const auto module = module_of(images_spv);
  for (const oracle_format& format : all_formats()) {
    SCOPED_TRACE(name_of(format));
    const auto image = image_of(desc_of(format));
    const auto bytes = random_bytes(pixel_count * format.pixel_bytes);
    fill(image, bytes.data());
    const auto kernel =
        kernel_of(module, with_type("read_floats", "read_signed", "read_unsigned", format.type));
    auto* read = shared_memory<std::array<uint32_t, 4>>(pixel_count);
    set_all(kernel, image, every_place(width, height), read);
    run(kernel, width, height);
    for (size_t i = 0; i < pixel_count; ++i) {
      const auto expected = pixel_value(format, bytes.data() + i * format.pixel_bytes);
      for (size_t channel = 0; channel < 4; ++channel) {
        const uint32_t bits = read[i][channel];
        double value = format.type == ZE_IMAGE_FORMAT_TYPE_SINT
                           ? static_cast<double>(static_cast<int32_t>(bits))
                           : static_cast<double>(bits);
        if (!is_integer(format.type)) {
          float number = 0;
          std::memcpy(&number, &bits, sizeof number);
          value = static_cast<double>(number);
        }
        if (std::isnan(expected[channel])) {
          ASSERT_TRUE(std::isnan(value)) << "pixel " << i;
        } else {
          ASSERT_EQ(static_cast<float>(value), static_cast<float>(expected[channel]))
              << "pixel " << i << " channel " << channel;
        }
      }
    }
  }
}

TEST_F(image_formats, keep_their_bits_when_a_kernel_copies_them) {
  const auto module = module_of(images_spv);
  for (const oracle_format& format : all_formats()) {
    SCOPED_TRACE(name_of(format));
    const auto from = image_of(desc_of(format)), to = image_of(desc_of(format));
    auto bytes = random_bytes(pixel_count * format.pixel_bytes);
    // The most negative normalised number has two forms, and what is not a number many.
    for (size_t i = 0; i < pixel_count; ++i) {
      uint8_t* pixel = bytes.data() + i * format.pixel_bytes;
      const auto values = pixel_value(format, pixel);
      const bool is_ambiguous = std::any_of(values.begin(), values.end(), [&](double each) {
        return std::isnan(each) || (format.type == ZE_IMAGE_FORMAT_TYPE_SNORM && each == -1);
      });
      if (is_ambiguous) std::fill_n(pixel, format.pixel_bytes, uint8_t{0});
    }
    fill(from, bytes.data());
    auto* pixels = shared_memory<std::array<uint32_t, 4>>(pixel_count);
    auto* places = every_place(width, height);
    const auto reader =
        kernel_of(module, with_type("read_floats", "read_signed", "read_unsigned", format.type));
    set_all(reader, from, places, pixels);
    run(reader, width, height);
    const auto writer =
        kernel_of(module, with_type("write_floats", "write_signed", "write_unsigned", format.type));
    set_all(writer, to, places, pixels);
    run(writer, width, height);
    std::vector<uint8_t> copied(bytes.size());
    fetch(to, copied.data());
    ASSERT_EQ(copied, bytes);
  }
}

// Whatever is written is stored as the value nearest to it that the format has.
TEST_F(image_formats, store_the_nearest_value_that_they_have) {
  const auto module = module_of(images_spv);
  std::uniform_real_distribution<float> small(-1.25F, 1.25F);
  for (const oracle_format& format : all_formats()) {
    if (is_integer(format.type) || format.components[0].second == 32) continue;
    SCOPED_TRACE(name_of(format));
    const auto image = image_of(desc_of(format));
    auto* pixels = shared_memory<std::array<float, 4>>(pixel_count);
    for (size_t i = 0; i < pixel_count; ++i) {
      for (float& each : pixels[i]) {
        each = small(random_);
        if (format.type == ZE_IMAGE_FORMAT_TYPE_FLOAT) {
          each = std::ldexp(each, static_cast<int>(i % 35) - 20);
        }
      }
    }
    const auto kernel = kernel_of(module, "write_floats");
    set_all(kernel, image, every_place(width, height), pixels);
    run(kernel, width, height);
    std::vector<uint8_t> bytes(pixel_count * format.pixel_bytes);
    fetch(image, bytes.data());
    for (size_t component = 0; component < format.components.size(); ++component) {
      // All values of the component, in order.
      const auto [first, bits] = format.components[component];
      std::vector<double> values;
      for (uint64_t raw = 0; raw < uint64_t{1} << bits; ++raw) {
        std::array<uint8_t, 16> pixel{};
        for (unsigned bit = 0; bit < bits; ++bit) {
          if ((raw >> bit & 1) != 0) pixel[(first + bit) / 8] |= uint8_t(1U << ((first + bit) % 8));
        }
        const double value = component_value(format, component, pixel.data());
        if (std::isfinite(value)) values.push_back(value);
      }
      std::sort(values.begin(), values.end());
      for (size_t i = 0; i < pixel_count; ++i) {
        const auto wanted = static_cast<double>(pixels[i][component]);
        const double stored =
            component_value(format, component, bytes.data() + i * format.pixel_bytes);
        const auto above = std::lower_bound(values.begin(), values.end(), wanted);
        double best = std::numeric_limits<double>::infinity();
        if (above != values.end()) best = *above - wanted;
        if (above != values.begin()) best = std::min(best, wanted - *std::prev(above));
        ASSERT_LE(std::fabs(stored - wanted), best * (1 + 1e-4)) << "pixel " << i << ": " << wanted;
      }
    }
  }
}

TEST_F(image_formats, saturate_integers) {
  const auto module = module_of(images_spv);
  for (const oracle_format& format : all_formats()) {
    if (!is_integer(format.type)) continue;
    SCOPED_TRACE(name_of(format));
    const bool is_signed = format.type == ZE_IMAGE_FORMAT_TYPE_SINT;
    const auto image = image_of(desc_of(format));
    auto* pixels = shared_memory<std::array<uint32_t, 4>>(pixel_count);
    for (size_t i = 0; i < pixel_count; ++i) {
      for (uint32_t& each : pixels[i]) each = static_cast<uint32_t>(random_()) >> (i % 32);
      if (i % 2 == 1) {
        for (uint32_t& each : pixels[i]) each = ~each;
      }
    }
    const auto kernel = kernel_of(module, is_signed ? "write_signed" : "write_unsigned");
    set_all(kernel, image, every_place(width, height), pixels);
    run(kernel, width, height);
    std::vector<uint8_t> bytes(pixel_count * format.pixel_bytes);
    fetch(image, bytes.data());
    for (size_t i = 0; i < pixel_count; ++i) {
      for (size_t component = 0; component < format.components.size(); ++component) {
        const auto bits = static_cast<int>(format.components[component].second);
        const double most = power_of_two(is_signed ? bits - 1 : bits) - 1;
        const uint32_t given = pixels[i][component];
        const double value = is_signed ? static_cast<double>(static_cast<int32_t>(given))
                                       : static_cast<double>(given);
        ASSERT_EQ(component_value(format, component, bytes.data() + i * format.pixel_bytes),
                  std::clamp(value, is_signed ? -most - 1 : 0.0, most));
      }
    }
  }
}

TEST_F(image_formats, take_what_is_not_a_number_for_zero_and_infinity_for_the_largest) {
  const auto module = module_of(images_spv);
  const auto image = image_of(image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
                                         ZE_IMAGE_FORMAT_TYPE_UNORM, 1, 1));
  auto* pixel = shared_memory<std::array<float, 4>>(1);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  pixel[0] = {std::nanf(""), infinity, -infinity, 0.5F};
  const auto kernel = kernel_of(module, "write_floats");
  set_all(kernel, image, every_place(1, 1), pixel);
  run(kernel, 1, 1);
  std::array<uint8_t, 4> bytes{};
  fetch(image, bytes.data());
  EXPECT_EQ(bytes, (std::array<uint8_t, 4>{0, 255, 0, 128}));
}

TEST_F(image_formats, put_components_into_the_channels_that_the_swizzle_says) {
  const auto module = module_of(images_spv);
  struct swizzle {
    std::array<ze_image_format_swizzle_t, 4> names;
    std::array<uint32_t, 4> read;    // of the bytes 10, 20, 30, 40
    std::array<uint8_t, 4> written;  // by the channels 1, 2, 3, 4
  };
  constexpr auto r = ZE_IMAGE_FORMAT_SWIZZLE_R, g = ZE_IMAGE_FORMAT_SWIZZLE_G,
                 b = ZE_IMAGE_FORMAT_SWIZZLE_B, a = ZE_IMAGE_FORMAT_SWIZZLE_A,
                 zero = ZE_IMAGE_FORMAT_SWIZZLE_0, one = ZE_IMAGE_FORMAT_SWIZZLE_1;
  const swizzle swizzles[] = {
      {{r, g, b, a}, {10, 20, 30, 40}, {1, 2, 3, 4}},
      {{b, g, r, a}, {30, 20, 10, 40}, {3, 2, 1, 4}},
      {{a, b, g, r}, {40, 30, 20, 10}, {4, 3, 2, 1}},
      {{g, b, a, r}, {20, 30, 40, 10}, {4, 1, 2, 3}},
      {{r, zero, zero, one}, {10, 0, 0, 1}, {1, 0, 0, 0}},
      {{r, r, r, one}, {10, 10, 10, 1}, {1, 0, 0, 0}},
  };
  auto* places = every_place(1, 1);
  for (const swizzle& each : swizzles) {
    ze_image_desc_t desc = image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
                                      ZE_IMAGE_FORMAT_TYPE_UINT, 1, 1);
    desc.format.x = each.names[0];
    desc.format.y = each.names[1];
    desc.format.z = each.names[2];
    desc.format.w = each.names[3];
    const auto image = image_of(desc);
    const std::array<uint8_t, 4> bytes = {10, 20, 30, 40};
    fill(image, bytes.data());
    auto* pixel = shared_memory<std::array<uint32_t, 4>>(1);
    const auto reader = kernel_of(module, "read_unsigned");
    set_all(reader, image, places, pixel);
    run(reader, 1, 1);
    EXPECT_EQ(pixel[0], each.read);
    pixel[0] = {1, 2, 3, 4};
    const auto writer = kernel_of(module, "write_unsigned");
    set_all(writer, image, places, pixel);
    run(writer, 1, 1);
    std::array<uint8_t, 4> written{};
    fetch(image, written.data());
    EXPECT_EQ(written, each.written);
  }
}

}  // namespace
}  // namespace zevent::driver::test
