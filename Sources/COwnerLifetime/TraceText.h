// The text of a trace's events: JSON, made in a buffer that is large enough for the longest.

#ifndef TETHER_TRACE_TEXT_H
#define TETHER_TRACE_TEXT_H

#include "COwnerLifetime.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// More than the longest event: its texts have limits, and what is around them does not vary.
#define LONGEST_TEXT 500
#define LONGEST_EVENT (3 * (LONGEST_TEXT + 8) + 400)

/// Kept, because asking for it may be a system call.
static uint64_t process;

static char *put(char *at, const char *text) {
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *put_number(char *at, uint64_t number) {
    char digits[20];
    int first = 20;
    do digits[--first] = '0' + number % 10;
    while (number /= 10);
    memcpy(at, digits + first, 20 - first);
    return at + 20 - first;
}

/// Nanoseconds as microseconds.
static char *put_time(char *at, uint64_t time) {
    at = put_number(at, time / 1000);
    unsigned rest = time % 1000;
    *at++ = '.';
    *at++ = '0' + rest / 100;
    *at++ = '0' + rest / 10 % 10;
    *at++ = '0' + rest % 10;
    return at;
}

static char *put_hexadecimal(char *at, uint64_t number, int digits) {
    while (digits--) *at++ = "0123456789abcdef"[number >> digits * 4 & 15];
    return at;
}

/// The length of the UTF-8 sequence that begins here; 0 if it is none, or not all of it is here.
static size_t sequence_length(const uint8_t *text, size_t left) {
    uint8_t first = *text;
    size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (!length || length > left) return 0;
    // Neither longer than need be, nor a surrogate, nor beyond the last scalar.
    uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < least || text[1] > most) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
    }
    return length;
}

/// What is inside the quotes of a JSON string.
static char *put_text(char *at, const uint8_t *text, size_t length) {
    char *end = at + LONGEST_TEXT;
    for (size_t i = 0; i < length;) {
        if (end - at < 6) return put(at, "…");
        uint8_t c = text[i];
        if (c >= 0x80) {
            size_t count = sequence_length(text + i, length - i);
            if (count) memcpy(at, text + i, count);
            else *at = '?';
            at += count ? count : 1;
            i += count ? count : 1;
            continue;
        }
        if (c < 0x20) {
            at = put_hexadecimal(put(at, "\\u"), c, 4);
        } else {
            if (c == '"' || c == '\\') *at++ = '\\';
            *at++ = c;
        }
        i++;
    }
    return at;
}

static char *put_head(char *at, char phase, uint64_t thread) {
    at = put(at, "{\"ph\":\"");
    *at++ = phase;
    at = put_number(put(at, "\",\"pid\":"), process);
    return put_number(put(at, ",\"tid\":"), thread);
}

/// An argument, after the first one or a comma.
static char *put_argument(char *at, bool *has_arguments, const char *key) {
    at = put(at, *has_arguments ? ",\"" : ",\"args\":{\"");
    *has_arguments = true;
    return put(put(at, key), "\":");
}

static size_t format(char *text, const tether_event *event, uint64_t time, uint64_t thread) {
    char *at = put_time(put(put_head(text, event->phase, thread), ",\"ts\":"), time);
    if (event->phase != 'E') {
        at = put(at, ",\"name\":\"");
        if (event->title) at = put(at, (const char *)event->title);
        *(at = put_text(at, event->name, event->name_length)) = '"';
        at++;
        if (event->phase == 'i') at = put(at, ",\"s\":\"t\"");
        if (event->phase == 'f') at = put(at, ",\"bp\":\"e\"");
        uint64_t id = event->phase == 's' || event->phase == 'b' ? time : event->id;
        if (id) at = put(put_hexadecimal(put(at, ",\"cat\":\"tether\",\"id\":\"0x"), id, 16), "\"");
    }
    bool has_arguments = false;
    if (event->file) {
        at = put(put_argument(at, &has_arguments, "observer"), "\"");
        at = put_text(at, event->file, strlen((const char *)event->file));
        at = put(put_number(put(at, ":"), event->line), "\"");
    }
    if (event->key) {
        at = put(put_argument(at, &has_arguments, (const char *)event->key), "\"");
        at = put(put_text(at, event->value, event->value_length), "\"");
    }
    if (event->waited_since) {
        uint64_t since = event->waited_since;
        at = put_time(put_argument(at, &has_arguments, "waited µs"), time > since ? time - since : 0);
    }
    return put(at, has_arguments ? "}},\n" : "},\n") - text;
}

#endif
