/* Records what a program does to the files below one folder: preloaded (LD_PRELOAD) into every process of it.

   POWER_ROOT   the folder; only what lies below it is recorded
   POWER_TRACE  the file that events are appended to, each with one write, so that events of several processes do not mix
   POWER_FAIL   "CALL NAME FIRST COUNT ERRNO": from the FIRST such call on, COUNT calls (0: all) on files with NAME in
                their path fail with ERRNO and do nothing. CALL is "fsync" or "write".

   An event is a `struct event`, two paths, and the data (tests/power/recording.py reads them). An event and its record
   are made under one lock, so that the order in the trace is the order in which things happened. An fsync is recorded
   when it begins and when it has ended: it makes durable what was written before it began.

   What could write to a file unseen (mmap, sendfile, copy_file_range) ends the program with a message. The index of
   SQLite's write-ahead log (-shm) is mapped, and needs no durability: SQLite makes it anew. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum op { CREATE = 1, MKDIR, WRITE, TRUNCATE, SYNC_BEGIN, SYNC_END, SYNC_FAILED, RENAME, LINK, UNLINK, RMDIR };

struct event {
    uint32_t size; /* of all of it */
    uint32_t op;
    uint64_t inode;
    int64_t number; /* an offset, a length, or the number of an fsync */
    uint32_t pid;
    uint32_t path, other, data; /* their lengths, in bytes */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_length;
static char trace_name[PATH_MAX];
static int trace = -1;
static int64_t syncs;

static char fail_call[16], fail_name[256];
static long fail_first, fail_count, fail_errno, fail_seen;

#define REAL(name)                                                                                                      \
    ({                                                                                                                  \
        static __typeof__(&name) found;                                                                                 \
        found ? found : (found = (__typeof__(&name))real(#name));                                                       \
    })

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "recorder: no %s\n", name);
        abort();
    }
    return found;
}

__attribute__((constructor)) static void start(void)
{
    const char *name = getenv("POWER_ROOT"), *file = getenv("POWER_TRACE"), *fail = getenv("POWER_FAIL");
    if (name && file && strlen(name) < sizeof root && strlen(file) < sizeof trace_name) {
        strcpy(trace_name, file);
        strcpy(root, name);
        root_length = strlen(root);
    }
    if (fail)
        sscanf(fail, "%15s %255s %ld %ld %ld", fail_call, fail_name, &fail_first, &fail_count, &fail_errno);
}

static void stop(const char *what, const char *path)
{
    fprintf(stderr, "recorder: cannot record %s of %s\n", what, path);
    abort();
}

static int is_inside(const char *path)
{
    return root_length && !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

/* Copies the path of an open file; returns whether it lies inside. */
static int path_of(int fd, char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return is_inside(path);
}

/* The same for a name below an open folder. */
static int path_at(int folder, const char *name, char *path)
{
    char base[PATH_MAX];
    if (!name)
        return 0;
    if (name[0] == '/')
        snprintf(path, PATH_MAX, "%s", name);
    else {
        if (folder == AT_FDCWD) {
            if (syscall(SYS_getcwd, base, sizeof base) < 0)
                return 0;
        } else
            path_of(folder, base);
        if (strlen(base) + strlen(name) + 2 > PATH_MAX)
            return 0;
        strcpy(path, base);
        strcat(path, "/");
        strcat(path, name);
    }
    return is_inside(path);
}

static int is_index(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, "-shm");
}

static void record(enum op op, uint64_t inode, int64_t number, const char *path, const char *other,
                   const struct iovec *parts, int count, size_t length)
{
    struct event event = {.op = op, .inode = inode, .number = number, .pid = (uint32_t)getpid()};
    struct iovec out[3 + 64];
    int used = 3, error = errno;
    event.path = (uint32_t)strlen(path);
    event.other = (uint32_t)strlen(other);
    event.data = (uint32_t)length;
    event.size = (uint32_t)(sizeof event + event.path + event.other + event.data);
    out[0] = (struct iovec){&event, sizeof event};
    out[1] = (struct iovec){(void *)path, event.path};
    out[2] = (struct iovec){(void *)other, event.other};
    for (size_t left = length; left; parts++, count--) {
        size_t part = parts->iov_len < left ? parts->iov_len : left;
        if (used == 3 + 64 || !count)
            stop("a write in so many parts", path);
        out[used++] = (struct iovec){parts->iov_base, part};
        left -= part;
    }
    if (trace < 0) {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, trace_name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        trace = fcntl(fd, F_DUPFD_CLOEXEC, 900);
        syscall(SYS_close, fd);
    }
    if (syscall(SYS_writev, trace, out, used) != (long)event.size)
        stop("an event", path);
    errno = error;
}

static int must_fail(const char *call, const char *path)
{
    if (!fail_first || strcmp(call, fail_call) || !strstr(path, fail_name))
        return 0;
    fail_seen++;
    if (fail_seen < fail_first || (fail_count && fail_seen >= fail_first + fail_count))
        return 0;
    errno = (int)fail_errno;
    return 1;
}

/* An ordinary file inside: its path and inode. */
static int is_recorded(int fd, char *path, uint64_t *inode)
{
    struct stat found;
    int error = errno;
    int is = root_length && !fstat(fd, &found) && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode)) &&
             path_of(fd, path) && !is_index(path);
    if (is)
        *inode = found.st_ino;
    errno = error;
    return is;
}

/* Opening */

static int opened(int folder, const char *name, int flags, mode_t mode, int (*open_it)(int, const char *, int, mode_t))
{
    char path[PATH_MAX];
    struct stat found;
    if (!(flags & (O_CREAT | O_TRUNC)) || !path_at(folder, name, path) || is_index(path))
        return open_it(folder, name, flags, mode);
    pthread_mutex_lock(&lock);
    int was_there = !fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW);
    int fd = open_it(folder, name, flags, mode);
    if (fd >= 0 && !fstat(fd, &found)) {
        if (!was_there)
            record(CREATE, found.st_ino, 0, path, "", NULL, 0, 0);
        else if (flags & O_TRUNC)
            record(TRUNCATE, found.st_ino, 0, path, "", NULL, 0, 0);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

static int by_openat(int folder, const char *name, int flags, mode_t mode)
{
    return REAL(openat)(folder, name, flags, mode);
}

#define OPEN_AT(name)                                                                                                   \
    int name(int folder, const char *file, int flags, ...)                                                              \
    {                                                                                                                   \
        va_list rest;                                                                                                   \
        va_start(rest, flags);                                                                                          \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                       \
        va_end(rest);                                                                                                   \
        return opened(folder, file, flags, mode, by_openat);                                                            \
    }
#define OPEN(name)                                                                                                      \
    int name(const char *file, int flags, ...)                                                                          \
    {                                                                                                                   \
        va_list rest;                                                                                                   \
        va_start(rest, flags);                                                                                          \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                       \
        va_end(rest);                                                                                                   \
        return opened(AT_FDCWD, file, flags, mode, by_openat);                                                          \
    }
OPEN_AT(openat)
OPEN_AT(openat64)
OPEN(open)
OPEN(open64)

/* Writing */

static ssize_t wrote(int fd, const struct iovec *parts, int count, off_t offset, int is_at)
{
    char path[PATH_MAX];
    uint64_t inode;
    int recorded = is_recorded(fd, path, &inode);
    if (recorded)
        pthread_mutex_lock(&lock);
    ssize_t length = -1;
    if (!recorded || !must_fail("write", path))
        length = is_at ? REAL(pwritev)(fd, parts, count, offset) : REAL(writev)(fd, parts, count);
    if (recorded) {
        if (length > 0) {
            off_t begin = is_at ? offset : lseek(fd, 0, SEEK_CUR) - length;
            record(WRITE, inode, begin, path, "", parts, count, (size_t)length);
        }
        pthread_mutex_unlock(&lock);
    }
    return length;
}

ssize_t write(int fd, const void *data, size_t length)
{
    struct iovec part = {(void *)data, length};
    return wrote(fd, &part, 1, 0, 0);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    struct iovec part = {(void *)data, length};
    return wrote(fd, &part, 1, offset, 1);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset)
{
    return pwrite(fd, data, length, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return wrote(fd, parts, count, 0, 0);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    return wrote(fd, parts, count, offset, 1);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset)
{
    return wrote(fd, parts, count, offset, 1);
}

int ftruncate(int fd, off_t length)
{
    char path[PATH_MAX];
    uint64_t inode;
    if (!is_recorded(fd, path, &inode))
        return REAL(ftruncate)(fd, length);
    pthread_mutex_lock(&lock);
    int result = must_fail("write", path) ? -1 : REAL(ftruncate)(fd, length);
    if (!result)
        record(TRUNCATE, inode, length, path, "", NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate64(int fd, off64_t length)
{
    return ftruncate(fd, length);
}

int truncate(const char *name, off_t length)
{
    int fd = open(name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int result = ftruncate(fd, length);
    close(fd);
    return result;
}

int truncate64(const char *name, off64_t length)
{
    return truncate(name, length);
}

/* Syncing */

static int synced(int fd, int (*sync_it)(int))
{
    char path[PATH_MAX];
    uint64_t inode;
    if (!is_recorded(fd, path, &inode))
        return sync_it(fd);
    pthread_mutex_lock(&lock);
    int64_t number = ++syncs;
    int fails = must_fail("fsync", path), error = errno;
    record(SYNC_BEGIN, inode, number, path, "", NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    int result = fails ? -1 : sync_it(fd);
    pthread_mutex_lock(&lock);
    record(result ? SYNC_FAILED : SYNC_END, inode, number, path, "", NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    if (fails)
        errno = error;
    return result;
}

int fsync(int fd)
{
    return synced(fd, REAL(fsync));
}

int fdatasync(int fd)
{
    return synced(fd, REAL(fdatasync));
}

/* Names */

static uint64_t inode_at(int folder, const char *name)
{
    struct stat found;
    return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) ? 0 : found.st_ino;
}

int renameat(int old_folder, const char *old, int new_folder, const char *new)
{
    char path[PATH_MAX], other[PATH_MAX];
    int from = path_at(old_folder, old, path), to = path_at(new_folder, new, other);
    if (!from && !to)
        return REAL(renameat)(old_folder, old, new_folder, new);
    if (!from || !to)
        stop("a move into or out of the folder", path);
    pthread_mutex_lock(&lock);
    int result = REAL(renameat)(old_folder, old, new_folder, new);
    if (!result)
        record(RENAME, inode_at(new_folder, new), 0, path, other, NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int rename(const char *old, const char *new)
{
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

int linkat(int old_folder, const char *old, int new_folder, const char *new, int flags)
{
    char path[PATH_MAX], other[PATH_MAX];
    int from = path_at(old_folder, old, path), to = path_at(new_folder, new, other);
    if (!from && !to)
        return REAL(linkat)(old_folder, old, new_folder, new, flags);
    if (!from || !to)
        stop("a link into or out of the folder", path);
    pthread_mutex_lock(&lock);
    int result = REAL(linkat)(old_folder, old, new_folder, new, flags);
    if (!result)
        record(LINK, inode_at(new_folder, new), 0, path, other, NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int link(const char *old, const char *new)
{
    return linkat(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int unlinkat(int folder, const char *name, int flags)
{
    char path[PATH_MAX];
    if (!path_at(folder, name, path) || is_index(path))
        return REAL(unlinkat)(folder, name, flags);
    pthread_mutex_lock(&lock);
    uint64_t inode = inode_at(folder, name);
    int result = REAL(unlinkat)(folder, name, flags);
    if (!result)
        record(flags & AT_REMOVEDIR ? RMDIR : UNLINK, inode, 0, path, "", NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}

int rmdir(const char *name)
{
    return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

int mkdirat(int folder, const char *name, mode_t mode)
{
    char path[PATH_MAX];
    if (!path_at(folder, name, path))
        return REAL(mkdirat)(folder, name, mode);
    pthread_mutex_lock(&lock);
    int result = REAL(mkdirat)(folder, name, mode);
    if (!result)
        record(MKDIR, inode_at(folder, name), 0, path, "", NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int mkdir(const char *name, mode_t mode)
{
    return mkdirat(AT_FDCWD, name, mode);
}

/* What is not recorded */

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    char path[PATH_MAX];
    uint64_t inode;
    if (fd >= 0 && (flags & MAP_SHARED) && (protection & PROT_WRITE) && is_recorded(fd, path, &inode))
        stop("a mapping", path);
    return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset)
{
    return mmap(address, length, protection, flags, fd, offset);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t count)
{
    char path[PATH_MAX];
    uint64_t inode;
    if (is_recorded(to, path, &inode))
        stop("sendfile", path);
    return syscall(SYS_sendfile, to, from, offset, count);
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t count)
{
    return sendfile(to, from, (off_t *)offset, count);
}

ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t length, unsigned int flags)
{
    char path[PATH_MAX];
    uint64_t inode;
    if (is_recorded(to, path, &inode))
        stop("copy_file_range", path);
    return syscall(SYS_copy_file_range, from, from_offset, to, to_offset, length, flags);
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
    char path[PATH_MAX];
    uint64_t inode;
    if (is_recorded(fd, path, &inode))
        stop("posix_fallocate", path);
    return REAL(posix_fallocate)(fd, offset, length);
}

int posix_fallocate64(int fd, off64_t offset, off64_t length)
{
    return posix_fallocate(fd, offset, length);
}
