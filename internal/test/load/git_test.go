//go:build long && linux

package load

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

// gitAttacks are fetches and pushes.
func gitAttacks(w *world) []attack {
	fetches := func(name string, workers int, repository string, want git.SHA, arguments string) attack {
		return attack{name: name, workers: workers, try: func(ctx context.Context, a *attacker) string {
			return a.unknown.transfer(ctx, repository, "git-upload-pack", fetch(want, arguments),
				http.Header{"Git-Protocol": {"version=2"}})
		}}
	}
	list := []attack{
		fetches("clones", 4, "/alice/garden.git", w.tips["garden"], "filter blob:none\n"),
		fetches("clones of a tree bomb", 1, "/mallory/trees.git", w.tips["trees"], ""),
		fetches("clones of giants", 1, "/mallory/renames.git", w.tips["renames"], ""),
		fetches("sparse filters", 2, "/mallory/trees.git", w.tips["trees"], "filter sparse:oid="+patterns+"\n"),
		{name: "zipped bombs as fetches", workers: 1, try: func(ctx context.Context, a *attacker) string {
			return a.unknown.transfer(ctx, "/alice/garden.git", "git-upload-pack", zippedBomb(),
				http.Header{"Content-Encoding": {"gzip"}})
		}},
		asks("lists of refs", 2, unknown, "", "/alice/garden.git/info/refs?service=git-upload-pack"),
	}
	for name, p := range w.pushes {
		body := wire.AppendPkt(nil,
			fmt.Sprintf("%s %s refs/heads/bomb-%s\x00 report-status", git.ZeroSHA, p.tip, name))
		body = append(append(body, "0000"...), p.pack...)
		list = append(list, attack{name: "push of " + name, workers: 1,
			try: func(ctx context.Context, a *attacker) string {
				return a.signed.transfer(ctx, "/mallory/target.git", "git-receive-pack", body, nil)
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

// transfer sends a body to a service of git and reads the whole answer.
func (c *caller) transfer(
	ctx context.Context, repository, service string, body []byte, header http.Header,
) string {
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/x-"+service+"-request")
	status, text, err := c.do(ctx, "POST", repository+"/"+service, string(body), header)
	if strings.Contains(string(text[:min(len(text), 4<<10)]), "ng refs/heads/bomb") {
		return "push refused"
	}
	return outcome(status, err)
}
