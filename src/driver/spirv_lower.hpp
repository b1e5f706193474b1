#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/spirv_constants.hpp"
#include "driver/spirv_function_pointers.hpp"
#include "driver/spirv_reflect.hpp"

namespace zevent::driver::spirv {

// A module-scope variable in global or constant memory. Kernels find its address in a table that
// every launch passes to them, so that the driver can place it where it likes, the host can ask for
// its address, all kernels of a module see the same one, and modules can share it.
struct module_variable {
  std::string name;  // its linkage name; "" when it has none
  bool is_imported = false;
  uint64_t size_bytes = 0;
  uint64_t alignment_bytes = 1;
  std::vector<uint8_t> initial_bytes;  // empty: all zero
  struct address {
    uint64_t offset_bytes;  // where in initial_bytes the address is to be added
    size_t variable;        // whose
  };
  std::vector<address> addresses;
};

struct lowered_kernel {
  std::string entry_point;       // the name that it has in the lowered module
  bool takes_work_item = false;  // a hidden argument after the declared ones: see work_item.hpp
  bool takes_variable_table = false;  // a hidden argument after that
  uint64_t local_block_bytes = 0;     // if not 0, a hidden local pointer after that
};

struct lowered_module {
  std::vector<uint32_t> words;
  std::vector<module_variable> variables;  // in the order of the table
  std::vector<lowered_kernel> kernels;     // in the order of the signature
  std::vector<address_kernel> functions;   // those whose address can be had
};

// Rewrites a module into the part of SPIR-V that the kernel compiler copes with:
//
//  - Module-scope variables in global memory become entries of a table, those in local memory
//    become parts of one block; both are handed down from the kernels as hidden parameters.
//  - Kernels that use sub-groups, or collective functions of groups, or have barriers that not all
//    work-items may come to, run one work-item.
//  - Kernels get short names, for theirs may be unfit for a file name or a linker.
//  - Atomic operations and built-in functions need not know what kind of memory they are given,
//    and atomic ones may be on floating-point numbers.
//  - Fences are calls of a function.
//  - Integer divisions cannot trap: a GPU gives some number where a CPU would kill the process.
//  - Images are pointers, and samplers numbers.
//  - Powers to a small constant number are multiplications.
//  - sin, exp and the like of single precision are functions of the module.
//  - Functions may be inlined, whatever they ask for: programs that were compiled without
//    optimisation forbid it for all of theirs.
//  - Built-in functions of halves are those of floats, or of 16-bit numbers; those of large vectors
//    are called for parts.
//  - Debug information goes.
//  - Where pointers to functions are used, kernels are added that tell what they are.
//
// The kernels' indices are those of reflect(module).
result<lowered_module> lower(const binary& module);

// Puts the blocks of every function in an order in which definitions come before uses. Compilers of
// the LLVM family write them as they come, which validators refuse.
void order_blocks(binary& module);

}  // namespace zevent::driver::spirv
