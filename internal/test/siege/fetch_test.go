//go:build long

package siege

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"arbor/internal/git"
	"arbor/internal/git/wire"
)

// patterns is the blob of all files of the tree bomb, which serves as a list of patterns.
const patterns = "2e65efe2a145dda7ee51d1741299f848e5bf752e"

// fetchAttacks are those by fetches and pushes.
func fetchAttacks(w *world) []attack {
	list := []attack{
		{"clones", 4, func(ctx context.Context, a *attacker) string {
			return a.fetch(ctx, a.unknown, "/alice/garden.git", fetch(headOf(ctx, a), "filter blob:none\n"))
		}},
		{"clones of a tree bomb", 1, func(ctx context.Context, a *attacker) string {
			return a.fetch(ctx, a.unknown, "/mallory/trees.git", fetch(w.tips["trees"], ""))
		}},
		{"clones of giants", 1, func(ctx context.Context, a *attacker) string {
			return a.fetch(ctx, a.unknown, "/mallory/renames.git", fetch(w.tips["renames"], ""))
		}},
		{"sparse filters", 2, func(ctx context.Context, a *attacker) string {
			return a.fetch(ctx, a.unknown, "/mallory/trees.git",
				fetch(w.tips["trees"], "filter sparse:oid="+patterns+"\n"))
		}},
		{"zipped bombs as fetches", 1, func(ctx context.Context, a *attacker) string {
			return a.post(ctx, a.unknown, "/alice/garden.git/git-upload-pack", "git-upload-pack",
				bytes.NewReader(zippedBomb()), http.Header{"Content-Encoding": {"gzip"}})
		}},
		{"lists of refs", 2, func(ctx context.Context, a *attacker) string {
			status, _, err := a.unknown.do(ctx, "GET",
				"/alice/garden.git/info/refs?service=git-upload-pack", "", nil)
			return outcome(status, err)
		}},
	}
	for name, p := range w.pushes {
		list = append(list, attack{"push of " + name, 1, func(ctx context.Context, a *attacker) string {
			body := wire.AppendPkt(nil,
				fmt.Sprintf("%s %s refs/heads/bomb-%s\x00 report-status", git.ZeroSHA, p.tip, name))
			body = append(append(body, "0000"...), p.pack...)
			return a.post(ctx, a.signed, "/mallory/target.git/git-receive-pack", "git-receive-pack",
				bytes.NewReader(body), nil)
		}})
	}
	return list
}

// zippedBomb unpacks to 500 MiB of zeros. It is made once, so that no attack waits for it.
var zippedBomb = sync.OnceValue(func() []byte {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.Copy(z, io.LimitReader(zeroReader{}, 500<<20))
	z.Close()
	return zipped.Bytes()
})

// headOf asks for the tip of alice/garden.
func headOf(ctx context.Context, a *attacker) git.SHA {
	_, text, err := a.unknown.do(ctx, "GET", "/repos/alice/garden/git/refs/heads/main", "", nil)
	_, sha, found := strings.Cut(string(text), `"sha":"`)
	if err != nil || !found || len(sha) < 40 {
		return git.SHA(strings.Repeat("ab", 20))
	}
	return git.SHA(sha[:40])
}

// fetch is the body of a fetch by protocol 2.
func fetch(want git.SHA, arguments string) []byte {
	body := wire.AppendPkt(nil, "command=fetch\n")
	body = append(body, "0001"...)
	body = wire.AppendPkt(body, "want "+string(want)+"\n")
	if arguments != "" {
		body = wire.AppendPkt(body, arguments)
	}
	return append(wire.AppendPkt(body, "done\n"), "0000"...)
}

func (a *attacker) fetch(ctx context.Context, c *caller, repository string, body []byte) string {
	return a.post(ctx, c, repository+"/git-upload-pack", "git-upload-pack", bytes.NewReader(body),
		http.Header{"Git-Protocol": {"version=2"}})
}

func (a *attacker) post(
	ctx context.Context, c *caller, path, service string, body io.Reader, header http.Header,
) string {
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/x-"+service+"-request")
	r, err := c.request(ctx, "POST", path, body, header)
	if err != nil {
		return err.Error()
	}
	res, err := c.client.Do(r)
	if err != nil {
		return outcome(0, err)
	}
	defer res.Body.Close()
	var kept bytes.Buffer
	_, err = io.Copy(&kept, io.LimitReader(res.Body, 4<<10))
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	if strings.Contains(kept.String(), "ng refs/heads/bomb") {
		return "push refused"
	}
	return outcome(res.StatusCode, err)
}
