#include "recorder/external_sizes.hpp"

#include "recorder/call_writer.hpp"

namespace zevent::recorder {

void write_external(call_writer& out, std::string_view, const void*) {
  out.form(api::content_form::nothing);
}

}  // namespace zevent::recorder
