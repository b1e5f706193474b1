#include "driver/fabric_vertex.hpp"

#include <cstring>
#include <memory>

#include "driver/driver.hpp"
#include "driver/two_call.hpp"
#include "driver_entry.hpp"

namespace zevent::driver {

fabric_vertex& device::vertex() {
  fabric_vertex* known = vertex_.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  auto made = std::make_unique<fabric_vertex>(*this);
  if (vertex_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
    return *made.release();
  }
  return *known;
}

namespace {

ze_result_t vertices_of(std::span<device* const> devices, uint32_t* count,
                        ze_fabric_vertex_handle_t* vertices) {
  return answer_in_two_calls(static_cast<uint32_t>(devices.size()), count, vertices,
                             [&](ze_fabric_vertex_handle_t& out, uint32_t i) {
                               out = to_handle<ze_fabric_vertex_handle_t>(&devices[i]->vertex());
                             });
}

}  // namespace

namespace entry {

ze_result_t zeFabricVertexGetExp(ze_driver_handle_t hDriver, uint32_t* pCount,
                                 ze_fabric_vertex_handle_t* phVertices) {
  return with<driver>(
      hDriver, [&](driver& owner) { return vertices_of(owner.devices(), pCount, phVertices); });
}

ze_result_t zeFabricVertexGetSubVerticesExp(ze_fabric_vertex_handle_t hVertex, uint32_t* pCount,
                                            ze_fabric_vertex_handle_t* phSubvertices) {
  return with<fabric_vertex>(hVertex, [&](fabric_vertex& target) {
    return vertices_of(target.owner_device().subdevices(), pCount, phSubvertices);
  });
}

ze_result_t zeFabricVertexGetPropertiesExp(ze_fabric_vertex_handle_t hVertex,
                                           ze_fabric_vertex_exp_properties_t* pVertexProperties) {
  return with<fabric_vertex>(hVertex, [&](fabric_vertex& target) {
    const device& of = target.owner_device();
    const ze_device_uuid_t uuid = of.uuid();
    static_assert(sizeof pVertexProperties->uuid.id == sizeof uuid.id);
    std::memcpy(pVertexProperties->uuid.id, uuid.id, sizeof uuid.id);
    pVertexProperties->type = of.root() != nullptr ? ZE_FABRIC_VERTEX_EXP_TYPE_SUBDEVICE
                                                   : ZE_FABRIC_VERTEX_EXP_TYPE_DEVICE;
    pVertexProperties->remote = 0;
    const ze_pci_address_ext_t address = of.pci_address();
    pVertexProperties->address = {address.domain, address.bus, address.device, address.function};
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeFabricVertexGetDeviceExp(ze_fabric_vertex_handle_t hVertex,
                                       ze_device_handle_t* phDevice) {
  return with<fabric_vertex>(hVertex, [&](fabric_vertex& target) {
    *phDevice = to_handle<ze_device_handle_t>(&target.owner_device());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeDeviceGetFabricVertexExp(ze_device_handle_t hDevice,
                                       ze_fabric_vertex_handle_t* phVertex) {
  return with<device>(hDevice, [&](device& target) {
    *phVertex = to_handle<ze_fabric_vertex_handle_t>(&target.vertex());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeFabricEdgeGetExp(ze_fabric_vertex_handle_t hVertexA,
                               ze_fabric_vertex_handle_t hVertexB, uint32_t* pCount,
                               ze_fabric_edge_handle_t*) {
  return with<fabric_vertex>(hVertexA, [&](fabric_vertex&) {
    return with<fabric_vertex>(hVertexB, [&](fabric_vertex&) {
      *pCount = 0;
      return ZE_RESULT_SUCCESS;
    });
  });
}

}  // namespace entry
}  // namespace zevent::driver
