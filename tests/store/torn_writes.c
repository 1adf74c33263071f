/* A disk that loses power, for tests: preloaded before the C library, it counts the calls that change one folder.
 *
 * torn_arm(folder, shadow, at, pages, fault) begins. When the call number `at` comes,
 *   fault 0: a write gets as far as its first `pages` pages of 4 KiB, and the process is killed;
 *   fault 1: this and every later write fails, for the disk is full;
 *   fault 2: as 0, and no fsync before it did anything.
 * What a disk has for certain is kept in the folder `shadow`: a file named by its inode at every fsync, the list of
 * names at every fsync of the folder, and a second link to every file that is renamed over or removed.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define PAGE 4096

static char folder[4096], shadow[4096];
static long countdown = -1, pages, calls;
static int fault, armed;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void torn_arm(const char *a_folder, const char *a_shadow, long at, long some_pages, int a_fault) {
    snprintf(folder, sizeof folder, "%s", a_folder);
    snprintf(shadow, sizeof shadow, "%s", a_shadow);
    countdown = at, pages = some_pages, fault = a_fault, calls = 0;
    armed = 1;
}

long torn_calls(void) { return calls; }

static int within(const char *path) {
    size_t length = strlen(folder);
    return armed && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int watched(int descriptor) {
    char link[64], path[4096];
    if (!armed)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return within(path);
}

/* Whether the moment has come. */
static int now(void) {
    long number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    return countdown >= 0 && (fault == 1 ? number >= countdown : number == countdown);
}

static void cut(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

static void keep_content(int descriptor) {
    struct stat about;
    char to[4200], buffer[65536];
    if (fstat(descriptor, &about) != 0)
        return;
    int from;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    if ((from = open(link, O_RDONLY)) < 0)
        return;
    snprintf(to, sizeof to, "%s/%lu.new", shadow, (unsigned long)about.st_ino);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t got;
    while ((got = read(from, buffer, sizeof buffer)) > 0)
        if (NEXT(write)(out, buffer, got) != got)
            _exit(99);
    close(from);
    close(out);
    char whole[4200];
    snprintf(whole, sizeof whole, "%s/%lu", shadow, (unsigned long)about.st_ino);
    NEXT(rename)(to, whole);
}

static void keep_names(void) {
    char to[4200], whole[4200];
    snprintf(to, sizeof to, "%s/names.new", shadow);
    snprintf(whole, sizeof whole, "%s/names", shadow);
    FILE *out = fopen(to, "w");
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry; open_folder && (entry = readdir(open_folder));)
        if (entry->d_type == DT_REG)
            fprintf(out, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
    closedir(open_folder);
    fclose(out);
    NEXT(rename)(to, whole);
}

static void keep_link(const char *path) {
    struct stat about;
    char to[4200];
    if (stat(path, &about) != 0)
        return;
    snprintf(to, sizeof to, "%s/%lu.kept", shadow, (unsigned long)about.st_ino);
    if (link(path, to) != 0 && errno != EEXIST)
        _exit(98);
}

static size_t torn(size_t size) { return size < (size_t)pages * PAGE ? size : (size_t)pages * PAGE; }

#define ENDED(descriptor) (watched(descriptor) && now())
#define FULL (errno = ENOSPC, -1)

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t place) {
    if (ENDED(descriptor)) {
        if (fault == 1)
            return FULL;
        NEXT(pwrite)(descriptor, bytes, torn(size), place);
        cut();
    }
    return NEXT(pwrite)(descriptor, bytes, size, place);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off_t place) {
    return pwrite(descriptor, bytes, size, place);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    if (ENDED(descriptor)) {
        if (fault == 1)
            return FULL;
        NEXT(write)(descriptor, bytes, torn(size));
        cut();
    }
    return NEXT(write)(descriptor, bytes, size);
}

ssize_t sendfile(int out, int in, off_t *place, size_t size) {
    if (ENDED(out)) {
        if (fault == 1)
            return FULL;
        NEXT(sendfile)(out, in, place, torn(size));
        cut();
    }
    return NEXT(sendfile)(out, in, place, size);
}
ssize_t sendfile64(int out, int in, off_t *place, size_t size) { return sendfile(out, in, place, size); }

int ftruncate(int descriptor, off_t size) {
    if (ENDED(descriptor)) {
        if (fault == 1)
            return FULL;
        cut();
    }
    return NEXT(ftruncate)(descriptor, size);
}
int ftruncate64(int descriptor, off_t size) { return ftruncate(descriptor, size); }

int fallocate(int descriptor, int mode, off_t place, off_t size) {
    if (ENDED(descriptor)) {
        if (fault == 1)
            return FULL;
        cut();
    }
    return NEXT(fallocate)(descriptor, mode, place, size);
}

static void synced(int descriptor) {
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return;
    if (S_ISDIR(about.st_mode))
        keep_names();
    else
        keep_content(descriptor);
}

int fsync(int descriptor) {
    int is_watched = watched(descriptor);
    if (is_watched && now() && fault != 1)
        cut();
    if (is_watched && fault == 2)
        return 0;
    /* The machine of the test does not lose power, so the disk itself need not be waited for. */
    if (is_watched) {
        synced(descriptor);
        return 0;
    }
    return NEXT(fsync)(descriptor);
}
int fdatasync(int descriptor) { return fsync(descriptor); }

int rename(const char *from, const char *to) {
    if (within(to)) {
        if (now() && fault != 1)
            cut();
        keep_link(to);
    }
    return NEXT(rename)(from, to);
}

int unlink(const char *path) {
    if (within(path)) {
        if (now() && fault != 1)
            cut();
        keep_link(path);
    }
    return NEXT(unlink)(path);
}
