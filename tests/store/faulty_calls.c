/* A system that fails, for tests: preloaded before the C library, it counts the calls that make, write, move or remove
 * something in one folder.
 *
 * faulty_arm(folder, at, number, lasting) begins. The call number `at` fails with the error `number`, and so do all later
 * ones that need room where it is `lasting`, as on a full disk; where the number is 0 the process is killed before it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[4096];
static long countdown = -1, calls;
static int number, lasting, armed;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void faulty_arm(const char *a_folder, long at, int a_number, int is_lasting) {
    snprintf(folder, sizeof folder, "%s", a_folder);
    countdown = at, number = a_number, lasting = is_lasting, calls = 0;
    armed = 1;
}

long faulty_calls(void) { return calls; }

static int within(const char *path) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int open_within(int descriptor) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return within(path);
}

/* Whether a path that begins at a descriptor is in the folder; those that begin nowhere else are whole in these tests. */
static int within_at(int descriptor, const char *path) {
    return path[0] == '/' || descriptor == AT_FDCWD ? within(path) : open_within(descriptor);
}

/* Whether this call fails. */
static int fails(int concerned, int needs_room) {
    if (!armed || !concerned)
        return 0;
    long call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (countdown < 0 || (lasting && needs_room ? call < countdown : call != countdown))
        return 0;
    if (number == 0) {
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
    errno = number;
    return 1;
}

#define OPENING(name)                                                                                                 \
    int name(const char *path, int flags, ...) {                                                                      \
        va_list more;                                                                                                 \
        va_start(more, flags);                                                                                        \
        mode_t mode = va_arg(more, mode_t);                                                                           \
        va_end(more);                                                                                                 \
        return armed && fails(within(path), flags & O_CREAT) ? -1 : NEXT(name)(path, flags, mode);                                     \
    }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name)                                                                                              \
    int name(int at, const char *path, int flags, ...) {                                                              \
        va_list more;                                                                                                 \
        va_start(more, flags);                                                                                        \
        mode_t mode = va_arg(more, mode_t);                                                                           \
        va_end(more);                                                                                                 \
        return armed && fails(within_at(at, path), flags & O_CREAT) ? -1 : NEXT(name)(at, path, flags, mode);                          \
    }
OPENING_AT(openat)
OPENING_AT(openat64)

#define OF_DESCRIPTOR(type, name, parameters, arguments)                                                              \
    type name parameters { return armed && fails(open_within(descriptor), 1) ? -1 : NEXT(name) arguments; }
OF_DESCRIPTOR(ssize_t, write, (int descriptor, const void *bytes, size_t size), (descriptor, bytes, size))
OF_DESCRIPTOR(ssize_t, pwrite, (int descriptor, const void *bytes, size_t size, off_t place),
              (descriptor, bytes, size, place))
OF_DESCRIPTOR(ssize_t, pwrite64, (int descriptor, const void *bytes, size_t size, off_t place),
              (descriptor, bytes, size, place))
OF_DESCRIPTOR(ssize_t, sendfile, (int descriptor, int in, off_t *place, size_t size), (descriptor, in, place, size))
OF_DESCRIPTOR(int, ftruncate, (int descriptor, off_t size), (descriptor, size))
OF_DESCRIPTOR(int, ftruncate64, (int descriptor, off_t size), (descriptor, size))
OF_DESCRIPTOR(int, fallocate, (int descriptor, int mode, off_t place, off_t size), (descriptor, mode, place, size))

/* The machine of the test does not lose power, so the disk itself need not be waited for. */
int fsync(int descriptor) {
    int concerned = armed && open_within(descriptor);
    return concerned ? (fails(1, 1) ? -1 : 0) : NEXT(fsync)(descriptor);
}
int fdatasync(int descriptor) { return fsync(descriptor); }

OF_DESCRIPTOR(int, fchmod, (int descriptor, mode_t mode), (descriptor, mode))

#define OF_PATH(name, parameters, arguments)                                                                          \
    int name parameters { return armed && fails(within(path), 0) ? -1 : NEXT(name) arguments; }
OF_PATH(unlink, (const char *path), (path))
OF_PATH(rmdir, (const char *path), (path))
OF_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
OF_PATH(chmod, (const char *path, mode_t mode), (path, mode))
OF_PATH(chown, (const char *path, uid_t user, gid_t group), (path, user, group))
OF_PATH(rename, (const char *from, const char *path), (from, path))

#define OF_PATH_AT(name, parameters, arguments)                                                                       \
    int name parameters { return armed && fails(within_at(at, path), 0) ? -1 : NEXT(name) arguments; }
OF_PATH_AT(unlinkat, (int at, const char *path, int flags), (at, path, flags))
OF_PATH_AT(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
OF_PATH_AT(renameat, (int from_at, const char *from, int at, const char *path), (from_at, from, at, path))
OF_PATH_AT(renameat2, (int from_at, const char *from, int at, const char *path, unsigned flags),
           (from_at, from, at, path, flags))
