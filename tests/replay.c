/* Replays recorded calls of a pack's functions and writes the results, on platforms without Python.

   replay LIBRARY LEVEL RECORDING ANSWERS        recording.py writes recordings; all numbers are 8 bytes

   1 buffer bytes data...                 put data into a buffer (padded to 8 bytes)
   2 buffer bytes value                   fill a buffer with one number
   3 bytes name... slots (is_buffer value)...   call a function: a slot is a number or a buffer's address
   4 buffer                               write a buffer into the answers
   A call writes what the function returns. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#include <sys/mman.h>
#endif

enum { BUFFERS = 1 << 20, SLOTS = 256, NAME = 256, SHOWN = 4096, ALIGNMENT = 64 };
typedef int64_t (*Function)(int64_t *);
static struct { char *data; int64_t bytes; } buffers[BUFFERS];
static FILE *in, *out;

static void fail(const char *what, const char *which) {
    fprintf(stderr, "replay: %s %s\n", what, which);
    exit(2);
}

static int64_t number(void) {
    int64_t value;
    if (fread(&value, 8, 1, in) != 1) fail("the recording", "ends early");
    return value;
}

static void text(char *to, int64_t bytes) {
    if (fread(to, 1, (bytes + 7) / 8 * 8, in) != (size_t)((bytes + 7) / 8 * 8)) fail("the recording", "ends early");
}

static char *room(int64_t buffer, int64_t bytes) {
    if (buffer < 0 || buffer >= BUFFERS) fail("the recording", "has too many buffers");
    if (buffers[buffer].bytes < bytes || !buffers[buffer].data) {
        char *data = malloc(bytes + 8 + ALIGNMENT); /* never freed: a recording has few sizes */
        if (!data) fail("memory", "is used up");
        buffers[buffer].data = data + ALIGNMENT - (uintptr_t)data % ALIGNMENT;
    }
    buffers[buffer].bytes = bytes;
    return buffers[buffer].data;
}

/* Libraries: loaded by the system, or from an image of another system's library (`flat_image` of recording.py), with its
   content, the offsets of addresses to relocate, and the offsets of its functions. */
#ifdef _WIN32
static void *load(const char *path) { return (void *)LoadLibraryA(path); }

static Function function(void *library, const char *name) { return (Function)GetProcAddress((HMODULE)library, name); }
#else
static const char FLAT[] = "flatpack";
static char *image;
static struct { char name[NAME]; int64_t place; } shown[SHOWN];
static int64_t shown_count;

static int load_image(const char *path) {
    char head[8];
    in = fopen(path, "rb");
    if (!in || fread(head, 8, 1, in) != 1 || memcmp(head, FLAT, 8)) return 0;
    int64_t bytes = number();
    image = mmap(0, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image == MAP_FAILED) fail("memory", "is used up");
    text(image, bytes);
    char *end = image + bytes;
    for (int64_t k = number(); k > 0; k--) *(int64_t *)(image + number()) += (int64_t)image;
    for (shown_count = 0, bytes = number(); shown_count < bytes; shown_count++) {
        shown[shown_count].place = number();
        text(shown[shown_count].name, number());
    }
    __builtin___clear_cache(image, end);
    return 1;
}

static void *load(const char *path) { return load_image(path) ? image : dlopen(path, RTLD_NOW); }

static Function function(void *library, const char *name) {
    for (int64_t k = 0; k < shown_count; k++)
        if (!strcmp(shown[k].name, name)) return (Function)(image + shown[k].place);
    return image ? 0 : (Function)dlsym(library, name);
}
#endif

static void call(void *library, const char *level) {
    char name[NAME];
    int64_t block[SLOTS], bytes = number();
    text(name, bytes);
    strcpy(name + bytes, level);
    int64_t slots = number();
    for (int64_t k = 0; k < slots; k++) {
        int64_t is_buffer = number(), value = number();
        block[k] = is_buffer ? (int64_t)(intptr_t)buffers[value].data : value;
    }
    Function found = function(library, name);
    if (!found) fail("there is no function", name);
    int64_t result = found(block);
    fwrite(&result, 8, 1, out);
}

int main(int count, char **words) {
    if (count != 5) fail("usage:", "replay LIBRARY LEVEL RECORDING ANSWERS");
    void *library = load(words[1]);
    if (!library) fail("cannot load", words[1]);
    in = fopen(words[3], "rb"), out = fopen(words[4], "wb");
    if (!in || !out) fail("cannot open", in ? words[4] : words[3]);
    int64_t kind;
    while (fread(&kind, 8, 1, in) == 1) {
        if (kind == 1) {
            int64_t buffer = number(), bytes = number();
            text(room(buffer, bytes), bytes);
        } else if (kind == 2) {
            int64_t buffer = number(), bytes = number(), value = number();
            char *data = room(buffer, bytes);
            for (int64_t k = 0; k < bytes; k++) data[k] = ((char *)&value)[k % 8];
        } else if (kind == 3) {
            call(library, words[2]);
        } else if (kind == 4) {
            int64_t buffer = number();
            fwrite(buffers[buffer].data, 1, buffers[buffer].bytes, out);
        } else {
            fail("the recording", "is damaged");
        }
    }
    return fclose(out) ? 2 : 0;
}
