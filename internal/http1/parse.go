package http1

import (
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// verdict is what parse finds out about the bytes of a connection.
type verdict int

const (
	incomplete verdict = iota // so far plain
	plain
	notPlain
)

// maxLines is the number of header lines that a plain request may have.
const maxLines = 64

var endOfHead = []byte("\r\n\r\n")

// parse reads the request that buf begins with into r, when it is plain and
// complete, and gives the number of its bytes. Its body is read from buf. Of an
// incomplete one it gives the number when the head has told it, else 0.
//
// Plain is: a method of the list; a path, not an absolute address; HTTP/1.1;
// lines that end with CR LF; names of tokens right before their colon; values
// of visible ASCII, blanks and tabs; one host; at most one length; none of the
// headers that set other rules for the body or the connection.
func parse(buf []byte, r *http.Request) (size int, v verdict) {
	if len(buf) == 0 {
		return 0, incomplete
	}
	if buf[0] < 'A' || buf[0] > 'Z' {
		return 0, notPlain
	}
	end := bytes.Index(buf, endOfHead)
	if end < 0 {
		if bytes.Contains(buf, []byte("\n\n")) || bytes.Contains(buf, []byte("\n\r\n")) {
			return 0, notPlain // it ends for net/http, which needs no CR
		}
		return 0, incomplete
	}
	line, lines, _ := strings.Cut(string(buf[:end+2]), "\r\n")
	if !parseLine(r, line) {
		return 0, notPlain
	}
	length, ok := parseHeader(r, lines)
	if !ok {
		return 0, notPlain
	}
	size = end + len(endOfHead) + length
	if size >= maxPlain {
		return 0, notPlain
	}
	if len(buf) < size {
		return size, incomplete
	}
	r.ContentLength = int64(length)
	r.Body = http.NoBody
	if length > 0 {
		r.Body = &body{rest: buf[size-length : size]}
	}
	return size, plain
}

// parseLine reads the request line, and reports whether it is plain.
func parseLine(r *http.Request, line string) bool {
	method, rest, _ := strings.Cut(line, " ")
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
	default:
		return false
	}
	target, ok := strings.CutSuffix(rest, " HTTP/1.1")
	if !ok || target == "" || target[0] != '/' {
		return false
	}
	simple := true
	for i := range len(target) {
		switch class[target[i]] {
		case inPath:
		case visible:
			simple = false
		default:
			return false
		}
	}
	address := &url.URL{Path: target}
	if !simple || strings.HasPrefix(target, "//") {
		var err error
		if address, err = url.ParseRequestURI(target); err != nil {
			return false
		}
	}
	*r = http.Request{Method: method, URL: address, RequestURI: target, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	return true
}

// parseHeader reads the header lines, each with its CR LF, and gives the body's length.
func parseHeader(r *http.Request, lines string) (length int, ok bool) {
	n := strings.Count(lines, "\r\n")
	if n == 0 || n > maxLines {
		return 0, false
	}
	r.Header = make(http.Header, n)
	values := make([]string, n) // the backing of all single values
	for i := range n {
		line, rest, _ := strings.Cut(lines, "\r\n")
		lines = rest
		name, value, ok := parseField(line)
		if !ok {
			return 0, false
		}
		switch name {
		case "Host":
			if r.Host != "" || !isHost(value) {
				return 0, false
			}
			r.Host = value
			continue
		case "Content-Length":
			if length, ok = parseLength(value); !ok || len(r.Header[name]) > 0 {
				return 0, false
			}
		case "Connection":
			if !strings.EqualFold(value, "keep-alive") {
				return 0, false
			}
		case "Transfer-Encoding", "Trailer", "Expect", "Upgrade", "Http2-Settings", "Pragma":
			return 0, false
		}
		if before := r.Header[name]; before != nil {
			r.Header[name] = append(before, value)
			continue
		}
		values[i] = value
		r.Header[name] = values[i : i+1 : i+1]
	}
	return length, r.Host != ""
}

// parseField splits a header line into its canonical name and its value.
func parseField(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return "", "", false
	}
	for i := range len(value) {
		if class[value[i]] == control {
			return "", "", false
		}
	}
	value = strings.Trim(value, " \t")
	if common, ok := commonNames[name]; ok {
		return common, value, true
	}
	return textproto.CanonicalMIMEHeaderKey(name), value, true
}

// parseLength reads a Content-Length.
func parseLength(s string) (int, bool) {
	if s == "" || len(s) > 5 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// isHost reports names, addresses and ports in the characters that they all have.
func isHost(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case class[c] == inPath && c != '/' && c != '~', c == ':', c == '[', c == ']':
		default:
			return false
		}
	}
	return s != ""
}

func isToken(s string) bool {
	for i := range len(s) {
		if !token[s[i]] {
			return false
		}
	}
	return s != ""
}

// The classes of bytes.
const (
	control = iota // and what is not ASCII
	blank
	visible
	inPath // what stands in a path for itself
)

// class is that of each byte, for lines; token are the bytes of a token (RFC 9110, 5.6.2).
var class, token = classes()

func classes() (class [256]byte, token [256]bool) {
	class[' '], class['\t'] = blank, blank
	for c := '!'; c <= '~'; c++ {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		class[c] = visible
		if letter || strings.ContainsRune("-._~/", c) {
			class[c] = inPath
		}
		token[c] = letter || strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	}
	return class, token
}

// commonNames saves making the canonical form of a name.
var commonNames = canonical("Host", "Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Connection",
	"Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Git-Protocol", "If-Modified-Since", "If-None-Match",
	"Origin", "Referer", "User-Agent", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
	"X-GitHub-Api-Version", "X-Requested-With")

// canonical maps names, as they are given and in small letters, to their canonical form.
func canonical(names ...string) map[string]string {
	m := make(map[string]string, 2*len(names))
	for _, name := range names {
		key := textproto.CanonicalMIMEHeaderKey(name)
		m[name], m[key], m[strings.ToLower(name)] = key, key, key
	}
	return m
}

// body is a request's body, in the connection's buffer. Later requests are read
// into that: a goroutine that the handler left behind must not see them.
type body struct {
	mu     sync.Mutex
	rest   []byte
	closed bool
}

// Read is io.Reader's.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return 0, http.ErrBodyReadAfterClose
	case len(b.rest) == 0:
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close is io.Closer's.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.rest = true, nil
	return nil
}
