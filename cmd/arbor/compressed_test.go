package main

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// git compresses what it asks, when it is long. If this failed, a fetch into a
// repository with many branches would not work.
func TestCompressedRequests(t *testing.T) {
	t.Parallel()
	s, dir := garden(t, db.SQLite)
	tip := git.SHA(gittest.Run(t, dir, "rev-parse", "main"))
	zip := func(b []byte) []byte {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write(b)
		testkit.NoError(t, w.Close())
		return z.Bytes()
	}
	bomb := func(unit []byte, least int) []byte { // gzip files may stand behind each other
		block := bytes.Repeat(unit, 1<<20/len(unit))
		return bytes.Repeat(zip(block), least/len(block)+1)
	}
	list := append(wire.AppendPkt(nil, "command=ls-refs"), "0000"...)
	want := append(append(wire.AppendPkt(nil, "want "+string(tip)+" no-progress"), "0000"...),
		wire.AppendPkt(nil, "done\n")...)
	create := append(append(wire.AppendPkt(nil,
		line(git.ZeroSHA, tip, "refs/heads/zipped")+"\x00report-status"), "0000"...),
		gittest.Pipe(t, dir, strings.NewReader(""), "pack-objects", "-q", "--stdout")...)
	damaged := zip(want)
	damaged[len(damaged)-6] ^= 1
	for name, c := range map[string]struct {
		service, encoding, protocol string
		body                        []byte
		status                      int
		want                        string
	}{
		"listing":         {"upload", "gzip", "version=2", zip(list), 200, string(tip) + " refs/heads/main"},
		"fetch":           {"upload", "gzip", "", zip(want), 200, "PACK"},
		"fetch, old name": {"upload", "x-gzip", "", zip(want), 200, "PACK"},
		"push":            {"receive", "gzip", "", zip(create), 200, "ok refs/heads/zipped"},
		"not compressed":  {"upload", "identity", "", want, 200, "PACK"},
		"no gzip":         {"upload", "gzip", "", want, 400, "gzip"},
		"damaged":         {"upload", "gzip", "", damaged, 400, ""},
		"cut":             {"upload", "gzip", "", zip(want)[:20], 400, ""},
		"empty":           {"upload", "gzip", "", nil, 400, ""},
		"another":         {"upload", "br", "", want, 415, "gzip"},
		"a bomb":          {"upload", "gzip", "", bomb([]byte{0}, 40<<20), 413, ""},
		"a bomb of lines": {"upload", "gzip", "version=2",
			bomb(wire.AppendPkt(nil, "command=fetch"), 40<<20), 413, ""},
		"a bomb in a push": {"receive", "gzip", "",
			bomb(wire.AppendPkt(nil, "shallow "+string(tip)), 40<<20), 413, ""},
	} {
		header := http.Header{"Content-Type": {"application/x-git-" + c.service + "-pack-request"},
			"Content-Encoding": {c.encoding}}
		if c.protocol != "" {
			header["Git-Protocol"] = []string{c.protocol}
		}
		res, body := s.do("alice", "POST", "/alice/garden.git/git-"+c.service+"-pack", header,
			bytes.NewReader(c.body))
		if res.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %.200q, want %d with %q", name, res.StatusCode, body, c.status, c.want)
		}
		if res.StatusCode >= 400 && res.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: an error as %s", name, res.Header.Get("Content-Type"))
		}
	}
	if got := refs(t, s.remote("", "alice/garden")); got["refs/heads/zipped"] != string(tip) {
		t.Errorf("the compressed push made %v", got)
	}
	// As git itself does it: what a client has makes a long request.
	other := filepath.Join(t.TempDir(), "other.git")
	gittest.Run(t, dir, "clone", "-q", "--mirror", s.remote("", "alice/garden"), other)
	next := add(t, other, "next", "next")
	gittest.Run(t, other, "push", "-q", s.remote("alice", "alice/garden"), "next")
	gittest.Import(t, dir, gittest.History("refs/heads/unrelated", 300, 3))
	for _, protocol := range []string{"0", "2"} {
		gittest.Run(t, dir, "-c", "protocol.version="+protocol, "fetch", "-q", s.remote("", "alice/garden"),
			"next:got"+protocol)
		gittest.Run(t, dir, "rev-parse", "--verify", "got"+protocol+"^{commit}")
		gittest.Run(t, dir, "update-ref", "-d", "refs/heads/got"+protocol)
	}
	gittest.Run(t, dir, "cat-file", "-e", string(next))
}
