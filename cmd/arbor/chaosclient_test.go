//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Refs of a repository that clients move at one time, and rounds after which they move others: so that each has a short
// history.
const (
	movedRefs   = 3
	refLifetime = 20
)

// ref is one that clients move now.
func (c *chaos) ref(kind string) string {
	return fmt.Sprintf("heads/%s-%d-%d", kind, c.round.Load()/refLifetime, rand.IntN(movedRefs))
}

func sha(text string) string {
	var made struct{ SHA string }
	_ = json.Unmarshal([]byte(text), &made)
	return made.SHA
}

// moveRef makes a commit through one node, and has a ref name it through another.
func (c *chaos) moveRef(id int, name, text string) {
	repo := "/repos/alice/" + name
	status, answer := c.ask(c.any(), "POST", repo+"/git/trees",
		`{"tree": [{"path": "f", "mode": "100644", "type": "blob", "content": "`+text+`"}]}`)
	if status != 201 {
		return
	}
	status, answer = c.ask(c.any(), "POST", repo+"/git/commits", `{"message": "`+text+`", "tree": "`+sha(answer)+`"}`)
	if status == 422 || status == 404 {
		c.t.Errorf("a tree that was acknowledged is not there: %d %s", status, answer)
	}
	commit := sha(answer)
	if status != 201 {
		return
	}
	ref := c.ref("r")
	move := operation{register: name + "/" + ref, value: commit}
	begun := c.elapsed()
	at := c.any()
	status, answer = c.ask(at, "PATCH", repo+"/git/refs/"+ref, `{"force": true, "sha": "`+commit+`"}`)
	if status == 422 && strings.Contains(answer, "Reference does not exist") {
		move.from = new(string)
		begun = c.elapsed()
		status, answer = c.ask(at, "POST", repo+"/git/refs", `{"ref": "refs/`+ref+`", "sha": "`+commit+`"}`)
	}
	if status == 404 || status == 422 && strings.Contains(answer, "Object does not exist") {
		c.t.Errorf("a commit that was acknowledged is not there: %d %s", status, answer)
	}
	c.noteWrite(id, move, status, begun)
}

// readRef reads a ref through one node, and the commit that it names through another.
func (c *chaos) readRef(id int, name string) {
	ref := c.ref([]string{"r", "g"}[rand.IntN(2)])
	begun := c.elapsed()
	status, text := c.ask(c.any(), "GET", "/repos/alice/"+name+"/git/ref/"+ref, "")
	var is struct{ Object struct{ SHA string } }
	if status != 404 && (status != 200 || json.Unmarshal([]byte(text), &is) != nil) {
		return
	}
	c.noteRead(id, name+"/"+ref, is.Object.SHA, begun)
	if status == 200 {
		c.mustHave("/repos/alice/" + name + "/git/commits/" + is.Object.SHA)
	}
}

// writeBlob makes an object that no ref names; one in ten does not fit into a row.
func (c *chaos) writeBlob(name, text string) {
	size := 1
	if rand.IntN(10) == 0 {
		size = 20_000
	}
	var noise strings.Builder
	for range size {
		fmt.Fprintf(&noise, "%x", rand.Uint64())
	}
	repo := "/repos/alice/" + name
	status, answer := c.ask(c.any(), "POST", repo+"/git/blobs", `{"content": "`+text+" "+noise.String()+`"}`)
	if size > 1 && !isKnown(status) {
		c.lost.Add(1)
	}
	if status == 201 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.blobs = append(c.blobs, repo+"/git/blobs/"+sha(answer))
	}
}

func (c *chaos) readBlob() {
	c.mu.Lock()
	path := ""
	if len(c.blobs) > 0 {
		path = c.blobs[rand.IntN(len(c.blobs))]
	}
	c.mu.Unlock()
	if path != "" {
		c.mustHave(path)
	}
}

// mustHave reads something that is there: it may be refused for now, and is never unknown.
func (c *chaos) mustHave(path string) {
	node := c.any()
	status, text := c.ask(node, "GET", path, "")
	if status == 500 { // a disk that goes away in the middle of a request may fail it
		c.t.Logf("node %d: %s\n%s", node, text, strings.Join(c.nodes[node].log.errors(), "\n"))
		return
	}
	if status != 200 && status != 503 && status != 429 && status != 0 {
		c.t.Errorf("node %d: %s is %d %s", node, path, status, text)
	}
}

// writeIssue opens an issue through one node, and reads it through another.
func (c *chaos) writeIssue(name, title string) {
	repo := "/repos/alice/" + name
	status, answer := c.ask(c.any(), "POST", repo+"/issues", `{"title": "`+title+`"}`)
	if status == 201 {
		c.mustHave(c.numbered(repo, answer, title))
	}
}

// numbered notes an issue or a pull request that was acknowledged, and returns its address as an issue.
func (c *chaos) numbered(repo, answer, title string) (path string) {
	var made struct{ Number int }
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Number == 0 {
		c.t.Errorf("it has no number: %s", answer)
	}
	path = fmt.Sprintf("%s/issues/%d", repo, made.Number)
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, taken := c.issues[path]; taken {
		c.t.Errorf("%s is both %s and %s", path, before, title)
	}
	c.issues[path] = title
	return path
}
