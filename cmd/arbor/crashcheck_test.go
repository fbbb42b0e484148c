//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// check holds the store against the history: what was acknowledged is there, once; what was
// refused is not; what is unknown is there whole or not at all.
func (c *crash) check() {
	c.t.Helper()
	c.t.Log(c.story.report())
	s := c.nodes[0]
	c.settle()
	issues := c.list("/repos/alice/garden/issues?state=all&per_page=100&sort=created&direction=asc")
	c.checkNumbers(issues)
	c.checkTold(issues)
	titles := slices.Concat(c.story.of("issue"), c.story.of("proposal"))
	c.checkOnce("title", titles, texts(issues, "title"))
	c.checkOnce("comment", c.story.of("comment"),
		texts(c.list(c.proposal("issues")+"/comments?per_page=100"), "body"))
	c.checkOnce("review", c.story.of("review"),
		texts(c.list(c.proposal("pulls")+"/reviews?per_page=100"), "body"))
	c.checkOnce("plant", c.story.of("plant"), texts(c.list("/plants?limit=1000000"), "name"))
	c.checkLast("body", c.story.of("edit"), fmt.Sprint(c.get(c.proposal("issues"), 200)["body"]), "<nil>")
	last := map[int]string{204: "PUT", 404: "DELETE"}[c.status("bob", "/user/starred/alice/garden")]
	c.checkLast("star", c.story.of("star"), last, "DELETE")
	c.checkGit()
	c.checkForks()
	c.checkAssets()
	s.sound()
	for _, node := range c.nodes {
		node.stop()
	}
	c.checkBackup()
	s.start()
	s.sweepAll()
}

// settle waits until what the requests left to do is done: each open pull request knows
// whether it can be merged.
func (c *crash) settle() {
	c.t.Helper()
	waits := ""
	testkit.Eventually(c.t, func() bool {
		for _, p := range c.list("/repos/alice/garden/pulls?state=open&per_page=100") {
			number := fmt.Sprintf("/repos/alice/garden/pulls/%.0f", p["number"])
			if c.get(number, 200)["mergeable"] == nil {
				waits = number
				return false
			}
		}
		return true
	}, "the test merge of a pull request", func() string { return waits })
}

// checkNumbers demands that issues and pull requests have the numbers from 1, each once.
func (c *crash) checkNumbers(issues []map[string]any) {
	c.t.Helper()
	for i, issue := range issues {
		if issue["number"] != float64(i+1) {
			c.t.Errorf("the issue at place %d has the number %v", i+1, issue["number"])
			return
		}
	}
}

func texts(list []map[string]any, field string) map[string]int {
	found := map[string]int{}
	for _, item := range list {
		found[fmt.Sprint(item[field])]++
	}
	return found
}

// checkOnce holds things that are made against those that are there.
func (c *crash) checkOnce(what string, deeds []deed, there map[string]int) {
	c.t.Helper()
	for _, d := range deeds {
		switch n := there[d.key]; {
		case d.told == acknowledged && n != 1:
			c.t.Errorf("%s %q was acknowledged and is there %d times", what, d.key, n)
		case d.told == refused && n != 0, n > 1:
			c.t.Errorf("%s %q was %s and is there %d times", what, d.key, d.told, n)
		}
	}
}

// checkLast holds a value that is written again and again against what is there: the last
// one that was acknowledged, or one after it of which nobody knows.
func (c *crash) checkLast(what string, deeds []deed, there, first string) {
	c.t.Helper()
	may := []string{first}
	for _, d := range deeds {
		switch d.told {
		case acknowledged:
			may = []string{d.key}
		case unknown:
			may = append(may, d.key)
		}
	}
	if !slices.Contains(may, there) {
		c.t.Errorf("%s is %q, want one of %q", what, there, may)
	}
}

// checkGit holds branches, files and merges against the history, by a clone of everything.
func (c *crash) checkGit() {
	c.t.Helper()
	remote := c.nodes[0].remote("alice", "alice/garden")
	whole(c.t, remote)
	dir := filepath.Join(c.t.TempDir(), "clone.git")
	gittest.Run(c.t, "", "clone", "-q", "--mirror", remote, dir)
	files := map[string]int{}
	for name := range strings.FieldsSeq(gittest.Run(c.t, dir, "ls-tree", "--name-only", "main")) {
		files[name]++
	}
	c.checkOnce("file", c.story.of("file"), files)
	log := gittest.Run(c.t, dir, "log", "--merges", "--format=%s", "main")
	for _, d := range c.story.of("merge") {
		key, number, _ := strings.Cut(d.key, " ")
		merges := strings.Count(log+"\n", fmt.Sprintf("pull request #%s from alice/%s\n", number, key))
		merged := c.status("alice", "/repos/alice/garden/pulls/"+number+"/merge") == 204
		if told := d.told; told == acknowledged && merges != 1 || told == refused && merges != 0 ||
			merges > 1 || merged != (merges == 1) || files[key] != merges {
			c.t.Errorf("the merge of #%s was %s; there are %d merges and %d files, and it is merged: %t",
				number, told, merges, files[key], merged)
		}
	}
	branches := map[string][]deed{}
	for _, d := range c.story.of("push") {
		branch, sha, _ := strings.Cut(d.key, " ")
		branches[branch] = append(branches[branch], deed{key: sha, told: d.told})
	}
	there := refs(c.t, remote)
	for branch, deeds := range branches {
		c.checkLast(branch, deeds, there["refs/heads/"+branch], "")
	}
}

func (c *crash) checkForks() {
	c.t.Helper()
	there := texts(c.list("/users/bob/repos?per_page=100"), "name")
	gone := map[string]outcome{}
	for _, d := range c.story.of("deleted fork") {
		gone[d.key] = d.told
	}
	for _, d := range c.story.of("fork") {
		n := there[d.key]
		switch deleted := gone[d.key]; {
		case d.told == acknowledged && deleted != acknowledged && deleted != unknown && n != 1,
			d.told == refused && n != 0, deleted == acknowledged && n != 0:
			c.t.Errorf("fork %s was %s, its deletion %q, and it is there %d times", d.key, d.told, deleted, n)
		case n == 1:
			whole(c.t, c.nodes[0].remote("bob", "bob/"+d.key))
		}
	}
}

// checkAssets downloads all of them.
func (c *crash) checkAssets() {
	c.t.Helper()
	releases := c.list("/repos/alice/garden/releases?per_page=100")
	c.checkOnce("release", c.story.of("release"), texts(releases, "tag_name"))
	there := map[string]int{}
	for _, release := range releases {
		for _, asset := range c.list(fmt.Sprintf("/repos/alice/garden/releases/%.0f/assets?per_page=100",
			release["id"])) {
			name, _ := asset["name"].(string)
			there[name]++
			url, _ := asset["browser_download_url"].(string)
			_, path, _ := strings.Cut(url, c.listen[0])
			if res, text := c.reader().do("", "GET", path, c.bearer("alice"), nil); text != contents(name) {
				c.t.Errorf("asset %s: %s, and %d bytes that are not what was uploaded", name,
					res.Status, len(text))
			}
		}
	}
	c.checkOnce("asset", c.story.of("asset"), there)
}

// checkBackup restores the last backup, which holds what was acknowledged before it began.
func (c *crash) checkBackup() {
	c.t.Helper()
	var began time.Time
	for _, d := range c.story.of("backup") {
		if d.told == acknowledged {
			began, _ = time.Parse(time.RFC3339Nano, d.key)
		}
	}
	if began.IsZero() {
		c.t.Log("no backup came to its end")
		return
	}
	database := ""
	if c.nodes[0].database != "" {
		database = dbtest.URL(c.t, c.engine)
	}
	restored := newInstanceOn(c.t, filepath.Join(c.t.TempDir(), "restored"), database)
	restored.tokens = c.nodes[0].tokens
	cmd := exec.Command("arbor", "restore", c.backup)
	cmd.Env = restored.env
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Errorf("restore: %v\n%s", err, out)
		return
	}
	restored.sound()
	restored.start("--listen", c.listen[0])
	defer restored.stop()
	there := texts(c.list("/repos/alice/garden/issues?state=all&per_page=100"), "title")
	for _, d := range c.story.of("issue") {
		if d.told == acknowledged && d.ended.Before(began) && there[d.key] != 1 {
			c.t.Errorf("issue %q was acknowledged before the backup began, which has it %d times", d.key,
				there[d.key])
		}
	}
}

// list reads all pages of a list.
func (c *crash) list(path string) (all []map[string]any) {
	c.t.Helper()
	for page := 1; ; page++ {
		res, text := c.reader().do("", "GET", fmt.Sprintf("%s&page=%d", path, page), c.bearer("alice"), nil)
		var items []map[string]any
		if err := json.Unmarshal([]byte(text), &items); err != nil || res.StatusCode != 200 {
			c.t.Fatalf("GET %s: %s %.200s", path, res.Status, text)
		}
		all = append(all, items...)
		if !strings.Contains(res.Header.Get("Link"), `rel="next"`) {
			return all
		}
	}
}

// reader asks the server that listens at the first node's address.
func (c *crash) reader() *instance {
	return &instance{t: c.t, url: "http://" + c.listen[0], tokens: c.nodes[0].tokens}
}

// bearer is a user's token as the plant store takes it, too.
func (c *crash) bearer(login string) http.Header {
	return http.Header{"Authorization": {"Bearer " + c.nodes[0].tokens[login]}}
}

func (c *crash) get(path string, want int) (answer map[string]any) {
	c.t.Helper()
	res, text := c.reader().do("", "GET", path, c.bearer("alice"), nil)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || res.StatusCode != want {
		c.t.Fatalf("GET %s: %s %.200s", path, res.Status, text)
	}
	return answer
}

func (c *crash) status(login, path string) int {
	c.t.Helper()
	res, _ := c.reader().do("", "GET", path, c.bearer(login), nil)
	return res.StatusCode
}
