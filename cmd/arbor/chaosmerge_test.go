//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"arbor/internal/test/gittest"
)

// mergeRepo is where pull requests are merged.
const mergeRepo = "/repos/alice/merges"

// proposal is a pull request that adds a file.
type proposal struct {
	file   string
	merged bool // acknowledged
}

// merged is the state of a pull request.
const merged = "merged"

// propose opens a pull request, and merges it through two nodes at once, while other clients merge theirs.
func (c *chaos) propose(id int, text string) {
	branch := "p-" + text
	status, answer := c.ask(c.any(), "GET", mergeRepo+"/git/ref/heads/main", "")
	var main struct{ Object struct{ SHA string } }
	if status != 200 || json.Unmarshal([]byte(answer), &main) != nil {
		return
	}
	if status, _ = c.ask(c.any(), "POST", mergeRepo+"/git/refs", `{"ref": "refs/heads/`+branch+`", "sha": "`+
		main.Object.SHA+`"}`); status != 201 {
		return
	}
	if status, _ = c.ask(c.any(), "PUT", mergeRepo+"/contents/"+branch,
		`{"message": "`+text+`", "content": "YQ==", "branch": "`+branch+`"}`); status != 201 {
		return
	}
	status, answer = c.ask(c.any(), "POST", mergeRepo+"/pulls", `{"title": "`+text+`", "head": "`+branch+`", "base": "main"}`)
	if status != 201 {
		return
	}
	number := filepath.Base(c.numbered(mergeRepo, answer, text))
	p := &proposal{file: branch}
	c.mu.Lock()
	c.pulls[number] = p
	c.mu.Unlock()
	pull, register := mergeRepo+"/pulls/"+number, "pull request "+number
	var merges atomic.Int64
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			begun := c.elapsed()
			status, _ := c.ask(c.any(), "PUT", pull+"/merge", `{}`)
			c.noteWrite(id, operation{register: register, value: merged, from: new(string)}, status, begun)
			if status == 200 {
				merges.Add(1)
			}
		})
	}
	both.Wait()
	if merges.Load() > 1 {
		c.t.Errorf("#%s is merged twice", number)
	}
	c.mu.Lock()
	p.merged = merges.Load() > 0
	c.mu.Unlock()
	begun := c.elapsed()
	status, answer = c.ask(c.any(), "GET", pull, "")
	var is struct{ Merged bool }
	switch {
	case status == 404:
		c.t.Errorf("#%s is not there", number)
	case status == 200 && json.Unmarshal([]byte(answer), &is) == nil:
		c.noteRead(id, register, map[bool]string{true: merged}[is.Merged], begun)
	}
}

// judgeMerges holds that each pull request that is merged was merged once, and the others not at all.
func (c *chaos) judgeMerges() {
	dir := filepath.Join(c.t.TempDir(), "merges.git")
	gittest.Run(c.t, c.t.TempDir(), "clone", "-q", "--mirror", c.nodes[0].remote("alice", "alice/merges"), dir)
	subjects := gittest.Run(c.t, dir, "log", "--merges", "--format=%s", "main")
	files := strings.Fields(gittest.Run(c.t, dir, "ls-tree", "--name-only", "main"))
	done := 0
	for number, p := range c.pulls {
		status, _ := c.ask(c.any(), "GET", mergeRepo+"/pulls/"+number+"/merge", "")
		want := map[int]int{204: 1, 404: 0}[status]
		done += want
		if p.merged && status != 204 {
			c.t.Errorf("#%s was merged, and is not any more: %d", number, status)
		}
		if times := strings.Count(subjects, "Merge pull request #"+number+" from "); times != want ||
			slices.Contains(files, p.file) != (want == 1) {
			c.t.Errorf("#%s, whose state is %d, is %d times in the history", number, status, times)
		}
	}
	c.t.Logf("%d of %d pull requests are merged", done, len(c.pulls))
}

// push moves a ref by git, if it is what another node has just shown.
func (c *chaos) push(id int, name, text string) {
	dir, ref := c.clones[id], c.ref("g")
	remote := func() string {
		return as(c.nodes[c.any()].at.Load().(string), "alice", c.nodes[0].tokens["alice"]) + "/alice/" + name + ".git"
	}
	begun := c.elapsed()
	out, _, err := gittest.Try(c.t, dir, nil, "ls-remote", remote(), "refs/"+ref)
	if err != nil {
		return
	}
	old, _, _ := strings.Cut(string(out), "\t")
	c.noteRead(id, name+"/"+ref, old, begun)
	noise := text
	if rand.IntN(5) == 0 { // one that does not fit into a row
		noise = strings.Repeat(text, 10) + string(randomBytes(200_000))
	}
	blob := strings.TrimSpace(string(gittest.Pipe(c.t, dir, strings.NewReader(noise), "hash-object", "-w", "--stdin")))
	tree := strings.TrimSpace(string(gittest.Pipe(c.t, dir, strings.NewReader("100644 blob "+blob+"\tf\n"), "mktree")))
	commit := gittest.Run(c.t, dir, "commit-tree", tree, "-m", text)
	begun = c.elapsed()
	out, _, err = gittest.Try(c.t, dir, nil, "push", "--porcelain", "--force-with-lease=refs/"+ref+":"+old, remote(),
		commit+":refs/"+ref)
	move := operation{register: name + "/" + ref, value: commit, from: &old}
	switch {
	case err == nil:
		c.noteWrite(id, move, 200, begun)
		path := fmt.Sprintf("/repos/alice/%s/git/commits/%s", name, commit)
		c.mu.Lock()
		c.pushed = append(c.pushed, path)
		c.mu.Unlock()
		c.mustHave(path)
	case strings.Contains(string(out), "[rejected]"): // it is another one by now
	default:
		if len(noise) > len(text) {
			c.lost.Add(1)
		}
		c.noteWrite(id, move, 0, begun)
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}
