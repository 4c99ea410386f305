#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* Makes reads of database files fail with EIO, like those of a vanished disk, while the file that EIO_WHILE names exists. */
static int fails(int fd) {
  const char *while_there = getenv("EIO_WHILE");
  if (!while_there || access(while_there, F_OK) != 0) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, ".sqlite") != NULL;
}
#define FAILING(type, name, parameters, ...) \
  type name parameters { \
    static type (*real) parameters; \
    if (fails(fd)) { errno = EIO; return -1; } \
    if (!real) real = (type (*) parameters)dlsym(RTLD_NEXT, #name); \
    return real(__VA_ARGS__); \
  }
FAILING(ssize_t, pread, (int fd, void *to, size_t bytes, off_t at), fd, to, bytes, at)
FAILING(ssize_t, pread64, (int fd, void *to, size_t bytes, off64_t at), fd, to, bytes, at)
FAILING(ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at), fd, from, bytes, at)
FAILING(ssize_t, pwrite64, (int fd, const void *from, size_t bytes, off64_t at), fd, from, bytes, at)
FAILING(int, fsync, (int fd), fd)
FAILING(int, fdatasync, (int fd), fd)
