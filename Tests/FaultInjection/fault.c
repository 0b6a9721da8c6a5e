// Which call is to fail, and the watch over the process.

#include "fault_injection.h"

#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_uint armed_kinds;
static atomic_long seen, fired;
static atomic_uint first_kind;
static atomic_long armed_at;
static atomic_long armed_times;
atomic_int fault_writes;

void fault_arm(unsigned kinds, long at, long times, int writes) {
  fault_disarm();
  atomic_store(&seen, 0);
  atomic_store(&fired, 0);
  atomic_store(&first_kind, 0);
  atomic_store(&armed_at, at);
  atomic_store(&armed_times, times);
  atomic_store(&fault_writes, writes);
  atomic_store(&armed_kinds, kinds);
}

void fault_disarm(void) { atomic_store(&armed_kinds, 0); }

long fault_seen(void) { return atomic_load(&seen); }
long fault_fired(void) { return atomic_load(&fired); }
unsigned fault_kind(void) { return atomic_load(&first_kind); }

int fault_hits(unsigned kind) {
  if (!(atomic_load(&armed_kinds) & kind)) return 0;
  long number = atomic_fetch_add(&seen, 1) + 1;
  long at = atomic_load(&armed_at);
  if (at == 0 || number < at || number - at >= atomic_load(&armed_times)) return 0;
  if (atomic_fetch_add(&fired, 1) == 0) atomic_store(&first_kind, kind);
  return 1;
}

static char watched[400];

static void end_process(int number) {
  char line[500];
  int count = snprintf(
      line, sizeof line, "%s in %s\n", number == SIGALRM ? "hangs" : "crashed", watched);
  if (write(STDERR_FILENO, line, count > 0 ? (size_t)count : 0) < 0) _exit(4);
  _exit(3);
}

long fault_heap_in_use(void) { return (long)mallinfo2().uordblks; }

void fault_heap_give_back(void) { malloc_trim(0); }

void fault_watch(const char *label, unsigned seconds) {
  static int is_installed = 0;
  if (!is_installed) {
    int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], end_process);
    is_installed = 1;
  }
  strncpy(watched, label, sizeof watched - 1);
  alarm(seconds);
}

int fault_has_address_sanitizer(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return 1;
#endif
#endif
  return 0;
}

// Asked by the thread sanitizer. A continuation that is resumed before its task waits for it is ordered by
// the concurrency runtime's own atomics, which the sanitizer doesn't see.
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) { return "race:Scc6resume\n"; }
