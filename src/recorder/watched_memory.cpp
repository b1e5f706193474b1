#include "recorder/watched_memory.hpp"

#define XXH_INLINE_ALL
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace zevent::recorder {
namespace {

uint64_t page_begin(uint64_t address) {
  return address & ~(page_bytes - 1);
}

uint64_t page_end(uint64_t address) {
  return page_begin(address + page_bytes - 1);
}

constexpr uint64_t never_noted = 0;

uint64_t hash_page(std::span<const std::byte> content) {
  const uint64_t hash = XXH3_64bits(content.data(), content.size());
  return hash != never_noted ? hash : 1;
}

uint64_t hash_of_zeros(uint64_t bytes) {
  static constexpr std::byte zeros[page_bytes] = {};
  static const uint64_t whole_page = hash_page(zeros);
  return bytes == page_bytes ? whole_page : hash_page({zeros, bytes});
}

address_range common(const address_range& a, const address_range& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// Sorts, and makes one run of those that touch or overlap.
void join_runs(std::vector<address_range>& runs) {
  std::sort(runs.begin(), runs.end(),
            [](const address_range& a, const address_range& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const address_range& each : runs) {
    if (kept != 0 && each.begin <= runs[kept - 1].end)
      runs[kept - 1].end = std::max(runs[kept - 1].end, each.end);
    else
      runs[kept++] = each;
  }
  runs.resize(kept);
}

// What is in `runs` and not in `others`; both are sorted.
std::vector<address_range> without(std::span<const address_range> runs,
                                   std::span<const address_range> others) {
  std::vector<address_range> rest;
  size_t other = 0;
  for (address_range each : runs) {
    while (other < others.size() && others[other].end <= each.begin) ++other;
    for (size_t i = other; i < others.size() && others[i].begin < each.end; ++i) {
      if (others[i].begin > each.begin) rest.push_back({each.begin, others[i].begin});
      each.begin = std::max(each.begin, std::min(each.end, others[i].end));
    }
    if (each.size() != 0) rest.push_back(each);
  }
  return rest;
}

// What is in both; both are sorted.
std::vector<address_range> in_both(std::span<const address_range> runs,
                                   std::span<const address_range> others) {
  std::vector<address_range> both;
  size_t other = 0;
  for (const address_range& each : runs) {
    while (other < others.size() && others[other].end <= each.begin) ++other;
    for (size_t i = other; i < others.size() && others[i].begin < each.end; ++i)
      both.push_back(common(each, others[i]));
  }
  return both;
}

}  // namespace

bool copy_memory(const void* source, std::span<std::byte> target) {
  size_t done = 0;
  while (done < target.size()) {
    const iovec to{target.data() + done, target.size() - done};
    const iovec from{const_cast<std::byte*>(static_cast<const std::byte*>(source)) + done,
                     target.size() - done};
    const ssize_t copied = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    if (copied > 0) {
      done += static_cast<size_t>(copied);
    } else if (copied < 0 && (errno == EPERM || errno == ENOSYS)) {
      // Some containers forbid the call; then there is only trust in the program.
      std::memcpy(target.data() + done, static_cast<const std::byte*>(source) + done,
                  target.size() - done);
      return true;
    } else {
      return false;
    }
  }
  return true;
}

address_range watched_memory::pages_of(const address_range& range) const {
  return {page_begin(range.begin), page_end(range.end)};
}

bool watched_memory::contains(const address_range& range) const {
  auto after = allocations_.upper_bound(range.begin);
  if (after == allocations_.begin()) return false;
  const allocation& own = (--after)->second;
  return !own.is_of_device && range.end <= own.range.end;
}

watched_memory::allocation* watched_memory::find(uint64_t address) {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  allocation& own = (--after)->second;
  return address < own.range.end ? &own : nullptr;
}

void watched_memory::mark_all_written() {
  for (auto& [address, each] : allocations_) each.is_marked = true;
}

void watched_memory::mark_written(const address_range& range) {
  allocation* own = find(range.begin);
  if (own == nullptr) return;
  own->is_marked = true;
  if (!own->is_of_device || range.size() == 0) return;
  const address_range pages = common(pages_of(range), pages_of(own->range));
  const uint64_t first_page = page_begin(own->range.begin);
  for (uint64_t page = pages.begin; page < pages.end; page += page_bytes)
    own->is_unsettled[(page - first_page) / page_bytes] = true;
}

void watched_memory::mark_shared(uint64_t address) {
  if (allocation* own = find(address)) own->is_shared = true;
}

void watched_memory::note_results(const note_function& note, bool device_is_idle) {
  device_is_idle_ = device_is_idle;
  note_changes(note, true);
  if (device_is_idle)
    for (auto& [address, each] : allocations_) each.is_marked = false;
}

bool watched_memory::shares_page(uint64_t page, const allocation& own) const {
  auto next = allocations_.lower_bound(page);
  for (; next != allocations_.end() && next->first < page + page_bytes; ++next)
    if (&next->second != &own && !next->second.is_of_device) return true;
  next = allocations_.lower_bound(page);
  if (next == allocations_.begin()) return false;
  --next;
  return &next->second != &own && !next->second.is_of_device && next->second.range.end > page;
}

watched_memory::allocation* watched_memory::insert(uint64_t address, uint64_t bytes) {
  if (bytes == 0 || allocations_.contains(address)) return nullptr;
  allocation& own = allocations_[address];
  own.range = {address, address + bytes};
  own.page_hashes.assign(pages_of(own.range).size() / page_bytes, never_noted);
  own.is_unsettled.assign(own.page_hashes.size(), false);
  return &own;
}

void watched_memory::add_of_device(uint64_t address, uint64_t bytes) {
  allocation* own = insert(address, bytes);
  if (own == nullptr) return;
  own->is_of_device = true;
  // Which of its pages commands wrote is not known: those that are still zero count as not written.
  uint64_t page = page_begin(address);
  for (uint64_t& hash : own->page_hashes) {
    hash = hash_of_zeros(common(own->range, {page, page + page_bytes}).size());
    page += page_bytes;
  }
}

void watched_memory::add(uint64_t address, uint64_t bytes) {
  allocation* made = insert(address, bytes);
  if (made == nullptr) return;
  allocation& own = *made;
  address_range pages = pages_of(own.range);
  // Pages at the edges that a neighbour has watched already stay as they are: what was written
  // there since the last look is not forgotten.
  if (shares_page(pages.begin, own)) pages.begin += page_bytes;
  if (pages.begin < pages.end && shares_page(pages.end - page_bytes, own)) pages.end -= page_bytes;
  set_aside_ = without(set_aside_, {&pages, 1});
  own.is_watched = watch_ && (pages.begin < pages.end ? watch_->watch(pages) : watch_->works());
  if (!own.is_watched) hash_pages(own);
}

void watched_memory::hash_pages(allocation& own) {
  copy_.resize(page_bytes);
  uint64_t page = page_begin(own.range.begin);
  for (uint64_t& hash : own.page_hashes) {
    const address_range part = common({page, page + page_bytes}, own.range);
    const auto content = std::span(copy_).first(part.size());
    if (copy_memory(reinterpret_cast<const void*>(part.begin), content)) hash = hash_page(content);
    page += page_bytes;
  }
}

void watched_memory::remove(uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return;
  const allocation& own = found->second;
  address_range pages = pages_of(own.range);
  if (shares_page(pages.begin, own)) pages.begin += page_bytes;
  if (pages.begin < pages.end && shares_page(pages.end - page_bytes, own)) pages.end -= page_bytes;
  if (own.is_watched && pages.begin < pages.end) watch_->unwatch(pages);
  allocations_.erase(found);
}

// Neighbours may share a page: each page is asked for once, then every allocation is compared.
void watched_memory::collect_written() {
  written_.clear();
  address_range run{0, 0};
  const auto take = [&] {
    if (run.size() == 0) return;
    if (!watch_->take_written(run, written_)) written_.push_back(run);
  };
  for (const auto& [address, each] : allocations_) {
    const address_range pages = pages_of(each.range);
    if (each.is_of_device) continue;
    if (!each.is_watched) {
      written_.push_back(pages);
    } else if (run.size() != 0 && pages.begin <= run.end) {
      run.end = std::max(run.end, pages.end);
    } else {
      take();
      run = pages;
    }
  }
  take();
  join_runs(written_);
}

bool watched_memory::set_aside() {
  for (const auto& [address, each] : allocations_)
    if (!each.is_watched && !each.is_of_device) return false;
  collect_written();
  set_aside_.insert(set_aside_.end(), written_.begin(), written_.end());
  join_runs(set_aside_);
  return true;
}

void watched_memory::note_changes(const note_function& note, bool with_marked) {
  collect_written();
  looks_at_marked_ = with_marked;
  if (with_marked) {
    for (const auto& [address, each] : allocations_)
      if (each.is_marked) written_.push_back(pages_of(each.range));
    join_runs(written_);
  }
  const auto earlier = without(set_aside_, written_);
  for (const address_range& pages : in_both(set_aside_, written_)) forget_pages(pages);
  set_aside_.clear();
  for (const address_range& pages : written_) note_pages(pages, change::seen, note);
  for (const address_range& pages : earlier) note_pages(pages, change::set_aside, note);
}

void watched_memory::forget_pages(const address_range& pages) {
  auto each = allocations_.upper_bound(pages.begin);
  if (each != allocations_.begin()) --each;
  for (; each != allocations_.end() && each->first < pages.end; ++each) {
    allocation& own = each->second;
    const address_range all = pages_of(own.range);
    const address_range part = common(pages, all);
    for (uint64_t page = part.begin; page < part.end; page += page_bytes)
      own.page_hashes[(page - all.begin) / page_bytes] = never_noted;
  }
}

void watched_memory::note_pages(const address_range& pages, change how, const note_function& note) {
  auto each = allocations_.upper_bound(pages.begin);
  if (each != allocations_.begin()) --each;
  for (; each != allocations_.end() && each->first < pages.end; ++each) {
    allocation& own = each->second;
    // A neighbour in the same page may be one of the device.
    if (own.is_of_device && !(looks_at_marked_ && own.is_marked)) continue;
    const uint64_t origin = page_begin(own.range.begin);
    const uint64_t step = own.is_of_device ? device_piece_bytes : piece_bytes;
    address_range left = common(pages, pages_of(own.range));
    while (left.begin < left.end) {
      const uint64_t piece_end = origin + ((left.begin - origin) / step + 1) * step;
      const address_range piece{left.begin, std::min(left.end, piece_end)};
      note_piece(own, piece, how, note);
      left.begin = piece.end;
    }
  }
}

void watched_memory::note_piece(allocation& from, address_range pages, change how,
                                const note_function& note) {
  const address_range range = common(pages, from.range);
  copy_.resize(range.size());
  if (from.is_of_device || !copy_memory(reinterpret_cast<const void*>(range.begin), copy_)) {
    if (!looks_at_marked_ || !from.is_marked || !read_ || !read_(range.begin, copy_)) return;
    how = change::copied;
  }
  if (how == change::seen && !from.is_marked && !from.is_shared) how = change::by_host;
  const uint64_t first_page = page_begin(from.range.begin);
  uint64_t changed_from = 0;
  bool in_run = false;
  const auto end_run = [&](uint64_t end) {
    if (!in_run) return;
    in_run = false;
    note(changed_from, std::span(copy_).subspan(changed_from - range.begin, end - changed_from),
         how);
  };
  for (uint64_t page = pages.begin; page < pages.end; page += page_bytes) {
    const address_range part = common({page, page + page_bytes}, from.range);
    const uint64_t hash =
        hash_page(std::span(copy_).subspan(part.begin - range.begin, part.size()));
    const size_t number = (page - first_page) / page_bytes;
    uint64_t& known = from.page_hashes[number];
    if (hash == known && !(looks_at_marked_ && from.is_unsettled[number])) {
      end_run(part.begin);
    } else {
      known = hash;
      from.is_unsettled[number] = from.is_marked && !(looks_at_marked_ && device_is_idle_);
      if (!in_run) changed_from = part.begin;
      in_run = true;
    }
  }
  end_run(range.end);
}

}  // namespace zevent::recorder
