// A few dozen mappings held in reserve, for the whole process. Linux counts mappings
// (vm.max_map_count), and splitting one to unmap its middle takes more of them: at the limit not
// even an unmap would succeed, and malloc would fail beside it. So `map` works only while the slack
// is held, and what must not fail drops it and tries again.
#pragma once

namespace holdall::vmm {

// False: the process has no mappings left. Thread-safe.
bool hold_map_slack();
// False: it was not held. Async-signal-safe.
bool drop_map_slack() noexcept;

}  // namespace holdall::vmm
