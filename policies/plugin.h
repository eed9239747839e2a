/* Plug-ins: eviction policies in shared libraries, by a C interface. A policy written in C++ needs
 * none of this: derive from Policy and see policies/plugin_policy.hpp.
 *
 * A plug-in is a shared library with one function, `holdall_plugin`, that returns a description of
 * itself. holdall loads it, compares `abi` with its own HOLDALL_PLUGIN_ABI and refuses all others.
 *
 * Of one policy, hooks are called by one thread at a time. No hook may throw, exit or keep a
 * pointer that it was given. Chunks are numbers; nothing is to be read into them. A hook that may
 * be null is marked so. All structures are zeroed before they are filled, and none changes while
 * the abi stays the same.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOLDALL_PLUGIN_ABI = 1 };

/* Why a chunk left: to make room; or its contents are gone. */
enum { HOLDALL_EVICTED = 0, HOLDALL_DROPPED = 1 };

/* No next use, or none known. */
static const uint64_t holdall_never = UINT64_MAX;

/* What `victims` returns when the policy has failed and is not to be asked again. */
static const size_t holdall_failed = SIZE_MAX;

typedef struct holdall_request {
  uint64_t chunk;
  uint64_t bytes;
  uint64_t next_use; /* number of the request that needs it next, or holdall_never */
  uint8_t write;     /* 1: leaves it dirty */
  uint8_t prefetch;  /* 1: asked for ahead of need */
  uint8_t zero[6];
} holdall_request;

/* "May this chunk be evicted?": ask(context, chunk) is 1 or 0. Valid during the call that it is
 * passed to. 0 for a chunk that is not resident. Who asks many times more often than there are
 * resident chunks is told 1 whatever the chunk, so that no search is without end; naming it is then
 * of no use. */
typedef struct holdall_may_evict {
  int (*ask)(const void* context, uint64_t chunk);
  const void* context;
} holdall_may_evict;

typedef struct holdall_policy {
  const char* name;    /* for specs: no colon, comma, equals sign or space */
  const char* summary; /* one line: what it evicts, its parameters */

  /* A new policy, `parameters` being "key=value,key=value" or "". NULL if they are no good; then
   * `error` holds why, with its final zero in `size` bytes. */
  void* (*create)(const char* parameters, char* error, size_t size);
  void (*destroy)(void* policy);

  /* The chunk is asked for and not resident. 0 if it is better not brought in. May be null: 1. */
  int (*admit)(void* policy, const holdall_request* request);
  /* Became resident; if it was, this is a hit. */
  void (*inserted)(void* policy, const holdall_request* request);
  /* Hits, in order, told at the latest before the next call of another hook. */
  void (*accessed)(void* policy, const holdall_request* requests, size_t count);
  /* Left; to be ignored if it was not resident. `why`: HOLDALL_EVICTED, HOLDALL_DROPPED. */
  void (*removed)(void* policy, uint64_t chunk, int why);
  /* The next to evict, as many as `wanted` or as there are, the first first; returns how many. All
   * are resident, differ, and `may` holds for them. They stay resident until `removed`: an answer
   * is no promise that it is taken, and the state must survive a refusal. */
  size_t (*victims)(void* policy, uint64_t* chunks, size_t wanted, const holdall_may_evict* may);
  /* The chunk, resident or not, is needed next by request number `next_use`. May be null. */
  void (*hinted)(void* policy, uint64_t chunk, uint64_t next_use);
  /* How much fits, in the unit of `bytes`. May be null. */
  void (*resize)(void* policy, uint64_t capacity);
} holdall_policy;

typedef struct holdall_plugin_description {
  uint32_t abi;   /* HOLDALL_PLUGIN_ABI */
  uint32_t count; /* of policies */
  const holdall_policy* policies;
} holdall_plugin_description;

/* The one function of a plug-in. What it returns stays valid while the library is loaded. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
const holdall_plugin_description*
holdall_plugin(void);

#ifdef __cplusplus
}
#endif
