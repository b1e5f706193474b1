#include "checked_program.hpp"

namespace zevent::check {
namespace {

using argument = model::argument;
using function = model::function;

// A kernel of which only the driver's word is known, not its code.
class kernel_arguments : public checked_program {
 protected:
  handle list = program.immediate_list(context, device);
  handle kernel = program.new_handle();

  void create(uint64_t arguments) {
    program.call(function::zeKernelCreate, {{argument::phKernel, kernel}});
    program.call(function::zeKernelGetProperties,
                 {{argument::hKernel, kernel}, {argument::kernel_argument_count, arguments}});
  }
  void set(uint64_t index) {
    program.call(function::zeKernelSetArgumentValue, {{argument::hKernel, kernel},
                                                      {argument::argIndex, index},
                                                      {argument::argSize, 4},
                                                      {argument::pArgValue, 0}});
  }
};

TEST_F(kernel_arguments, that_the_driver_counts_and_no_one_sets_are_a_hazard) {
  create(2);
  set(0);
  program.launch(list, kernel);
  EXPECT_EQ(broken(), "EV-75");
  EXPECT_EQ(findings.front().level, severity::hazard);
}

TEST_F(kernel_arguments, that_a_failed_call_was_to_set_are_not_set) {
  create(1);
  program.returns(ZE_RESULT_ERROR_INVALID_ARGUMENT);
  set(0);
  program.launch(list, kernel);
  EXPECT_EQ(broken(), "EV-75");
}

TEST_F(kernel_arguments, that_are_set_once_last_for_all_launches) {
  create(2);
  set(0);
  set(1);
  program.launch(list, kernel);
  program.barrier(list);
  program.launch(list, kernel);
  EXPECT_EQ(broken(), "");
}

TEST_F(kernel_arguments, of_a_kernel_of_which_nothing_is_known_are_not_judged) {
  program.call(function::zeKernelCreate, {{argument::phKernel, kernel}});
  program.launch(list, kernel);
  EXPECT_EQ(broken(), "");
}

}  // namespace
}  // namespace zevent::check
