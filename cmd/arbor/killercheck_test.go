//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// check holds the store against the story: what was acknowledged is there, once; what was refused is not;
// what is unknown is there whole or not at all. Nothing else is left, and a backup has it, too.
func (c *world) check() {
	c.t.Helper()
	c.t.Log(c.story.report())
	c.stop, c.looked = make(chan struct{}), map[string]bool{}
	c.checkTold()
	for _, row := range table {
		row.check(c)
	}
	checkPushes(c) // of which the merges of the check made new bases
	s := c.nodes[0]
	s.sound()
	for _, node := range c.nodes {
		node.stop()
	}
	c.checkBackup()
	c.sweep()
	whole(c.t, s.remote("alice", "alice/garden"))
}

// checkTitles demands that issues and pull requests have the numbers from 1, each once, and are counted.
func checkTitles(c *world) {
	c.t.Helper()
	issues, open := c.issues(), 0.0
	for i, issue := range issues {
		if issue["number"] != float64(i+1) {
			c.t.Errorf("the issue at place %d has the number %v", i+1, issue["number"])
			return
		}
		if issue["state"] == "open" {
			open++
		}
	}
	if n := c.get("/repos/alice/garden")["open_issues_count"]; n != open {
		c.t.Errorf("%v issues are open, and the repository counts %v", open, n)
	}
	c.checkOnce("title", c.story.of("issue", "proposal"), texts(issues, "title"))
}

func (c *world) issues() []map[string]any {
	return c.list("/repos/alice/garden/issues?state=all&sort=created&direction=asc&per_page=100")
}

func (c *world) checkTexts(kind, path, field string) {
	c.t.Helper()
	c.checkOnce(kind, c.story.of(kind), texts(c.list(path), field))
}

func texts(list []map[string]any, field string) map[string]int {
	found := map[string]int{}
	for _, item := range list {
		found[fmt.Sprint(item[field])]++
	}
	return found
}

// checkOnce holds things that are made against those that are there.
func (c *world) checkOnce(what string, deeds []deed, there map[string]int) {
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
func (c *world) checkLast(what string, deeds []deed, there, first string) {
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

// clone clones everything of garden, and looks at each object. What it cloned from the same server is kept
// until a ref changes.
func (c *world) clone() string {
	c.t.Helper()
	remote := c.nodes[0].remote("alice", "alice/garden")
	there := fmt.Sprint(c.nodes[0].server.Process.Pid, refs(c.t, remote))
	if c.cloned != there {
		c.cloned, c.cloneDir = there, filepath.Join(c.t.TempDir(), "clone.git")
		gittest.Run(c.t, "", "clone", "-q", "--mirror", remote, c.cloneDir)
		gittest.Run(c.t, c.cloneDir, "fsck", "--strict", "--full")
	}
	return c.cloneDir
}

// filesOf lists the files of main in a clone.
func (c *world) filesOf(dir string) map[string]int {
	files := map[string]int{}
	for name := range strings.FieldsSeq(gittest.Run(c.t, dir, "ls-tree", "--name-only", "main")) {
		files[name]++
	}
	return files
}

func checkFiles(c *world) {
	c.t.Helper()
	c.checkOnce("file", c.story.of("file"), c.filesOf(c.clone()))
}

func checkBlobs(c *world) {
	c.t.Helper()
	for _, d := range c.story.of("blob") {
		status := c.status("alice", "/repos/alice/garden/git/blobs/"+d.key)
		if status != 200 && d.told == acknowledged {
			c.t.Errorf("blob %s was acknowledged and answers %d", d.key, status)
		}
	}
}

// checkPushes demands that what was pushed together is there together, and that all that follows a push
// agrees: each open pull request is of its branch, and is found to be mergeable into main as it is.
func checkPushes(c *world) {
	c.t.Helper()
	remote := c.nodes[0].remote("alice", "alice/garden")
	there, names := refs(c.t, remote), map[string]bool{}
	pushes := c.story.of("push")
	for _, d := range pushes {
		name, _, _ := strings.Cut(d.key, " ")
		names[name] = true
	}
	for name := range names {
		own := slices.DeleteFunc(slices.Clone(pushes), func(d deed) bool {
			return !strings.HasPrefix(d.key, name+" ")
		})
		sha := there["refs/heads/"+name]
		if sha == "" {
			sha = "nothing"
		} else if too := there["refs/heads/"+name+"-too"]; too != sha {
			c.t.Errorf("pushed together: %s is %s, and %[1]s-too %[3]s", name, sha, too)
		}
		c.checkLast(name, own, name+" "+sha, name+" nothing")
		if len(names) == 1 && sha != "nothing" && there["refs/heads/reviewed"] != sha {
			c.t.Errorf("pushed together: %s is %s, and reviewed %s", name, sha, there["refs/heads/reviewed"])
		}
	}
	for _, p := range c.list("/repos/alice/garden/pulls?state=open&per_page=100") {
		c.checkOpen(p)
	}
}

// checkOpen waits for the test merge of an open pull request.
func (c *world) checkOpen(p map[string]any) {
	c.t.Helper()
	head := p["head"].(map[string]any)
	var pull map[string]any
	testkit.Eventually(c.t, func() bool {
		pull = c.get(fmt.Sprintf("/repos/alice/garden/pulls/%.0f", p["number"]))
		return pull["mergeable"] != nil
	}, "whether a pull request can be merged", func() string { return fmt.Sprint(p["number"]) })
	there := refs(c.t, c.nodes[0].remote("alice", "alice/garden"))
	at := there["refs/heads/"+head["ref"].(string)]
	ref := fmt.Sprintf("refs/pull/%.0f/", p["number"])
	test := there[ref+"merge"]
	if pull["mergeable"] != true || at != pull["head"].(map[string]any)["sha"] || there[ref+"head"] != at ||
		pull["merge_commit_sha"] != test {
		c.t.Errorf("#%.0f is open, mergeable: %v, at %v and %s, its branch at %s, its test merge %v and %s",
			p["number"], pull["mergeable"], pull["head"], there[ref+"head"], at, pull["merge_commit_sha"], test)
	} else if want := []string{there["refs/heads/main"], at}; !slices.Equal(c.nodes[0].parents(test), want) {
		c.t.Errorf("the test merge of #%.0f is of %v, want %v", p["number"], c.nodes[0].parents(test), want)
	}
}

func checkAssets(c *world) {
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
			if _, text := c.ask(0, "alice", "GET", path, ""); text != contents(name) {
				c.t.Errorf("asset %s has %d bytes that are not what was uploaded", name, len(text))
			}
		}
	}
	c.checkOnce("asset", c.story.of("asset"), there)
}

// checkLarge demands that objects of Git LFS that are there are what was uploaded.
func checkLarge(c *world) {
	c.t.Helper()
	there := map[string]int{}
	for _, d := range c.story.of("large object") {
		res, text := c.ask(0, "alice", "GET", largePath(d.key), "")
		if res == nil || res.StatusCode == http.StatusNotFound {
			continue
		}
		there[d.key]++
		if res.StatusCode != http.StatusOK || text != contents(d.key) {
			c.t.Errorf("object %s: %s, and %d bytes that are not what was uploaded", d.key, res.Status, len(text))
		}
	}
	c.checkOnce("large object", c.story.of("large object"), there)
}

// checkForks demands that forks which are there have all of their parents, and are counted there.
func checkForks(c *world) {
	c.t.Helper()
	gone := map[string]outcome{}
	for _, d := range c.story.of("deleted fork") {
		gone[d.key] = d.told
	}
	for from, owner := range map[string]string{"small": "/users/bob", "closed": "/orgs/guild"} {
		want := refs(c.t, c.nodes[0].remote("alice", "alice/"+from))
		there := texts(c.list(owner+"/repos?per_page=100"), "full_name")
		forks := 0
		for _, d := range c.story.of("fork of " + from) {
			n := there[d.key]
			forks += n
			switch deleted := gone[d.key]; {
			case d.told == acknowledged && deleted != acknowledged && deleted != unknown && n != 1,
				d.told == refused && n != 0, deleted == acknowledged && n != 0:
				c.t.Errorf("fork %s was %s, its deletion %q, and it is there %d times", d.key, d.told, deleted, n)
			case n == 1:
				remote := c.nodes[0].remote("alice", d.key)
				whole(c.t, remote)
				if got := refs(c.t, remote); fmt.Sprint(got) != fmt.Sprint(want) {
					c.t.Errorf("fork %s has %v, want %v", d.key, got, want)
				}
			}
		}
		if n := c.get("/repos/alice/" + from)["forks_count"]; n != float64(forks) {
			c.t.Errorf("%s has %d forks and counts %v", from, forks, n)
		}
	}
}

// checkTransfers demands that one owner has the repository, with all that was pushed.
func checkTransfers(c *world) {
	c.t.Helper()
	var owners []string
	for _, owner := range []string{"alice", "guild"} {
		if c.status("alice", "/repos/"+owner+"/roving") == 200 {
			owners = append(owners, owner)
		}
	}
	if len(owners) != 1 {
		c.t.Fatalf("the repository is of %q", owners)
	}
	c.checkLast("the owner", c.story.of("transfer"), owners[0], "alice")
	remote := c.nodes[0].remote("alice", owners[0]+"/roving")
	there := refs(c.t, remote)
	for _, d := range c.story.of(movedPush) {
		branch, sha, _ := strings.Cut(d.key, " ")
		c.checkLast(branch, []deed{{key: sha, told: d.told}}, there["refs/heads/"+branch], "")
	}
	whole(c.t, remote)
}

// checkBackup restores the last backup, which holds what was acknowledged before it began, and sends nothing.
func (c *world) checkBackup() {
	c.t.Helper()
	var began time.Time
	for _, d := range c.story.of("backup") {
		if d.told == acknowledged {
			began, _ = time.Parse(time.RFC3339Nano, d.key)
		}
	}
	if began.IsZero() {
		return
	}
	database := ""
	if c.nodes[0].database != "" {
		database = dbtest.URL(c.t, c.engine)
	}
	restored := newInstanceOn(c.t, filepath.Join(c.t.TempDir(), "restored"), database)
	restored.tokens = c.nodes[0].tokens
	if out, err := restored.tells("restore", c.backup); err != nil {
		c.t.Errorf("restore: %v\n%s", err, out)
		return
	}
	if n := restored.waiting(); n != 0 {
		c.t.Errorf("the restored store would send %d deliveries of the one that was saved", n)
	}
	restored.sound()
	restored.start("--listen", c.listen[0])
	defer restored.stop()
	there := texts(c.issues(), "title")
	for _, d := range c.story.of("issue") {
		if d.told == acknowledged && d.ended.Before(began) && there[d.key] != 1 {
			c.t.Errorf("issue %q was acknowledged before the backup began, which has it %d times", d.key,
				there[d.key])
		}
	}
}

// list reads all pages of a list.
func (c *world) list(path string) (all []map[string]any) {
	c.t.Helper()
	if !strings.Contains(path, "?") {
		path += "?per_page=100"
	}
	for page := 1; ; page++ {
		var items []map[string]any
		more := c.read(fmt.Sprintf("%s&page=%d", path, page), &items)
		if all = append(all, items...); !more {
			return all
		}
	}
}

func (c *world) get(path string) (answer map[string]any) {
	c.t.Helper()
	c.read(path, &answer)
	return answer
}

// read reads an answer, and reports whether more pages follow it.
func (c *world) read(path string, to any) (more bool) {
	c.t.Helper()
	res, text := c.ask(0, "alice", "GET", path, "")
	if res == nil {
		c.t.Fatalf("GET %s: no answer", path)
	}
	if err := json.Unmarshal([]byte(text), to); err != nil || res.StatusCode != 200 {
		c.t.Fatalf("GET %s: %s %.200s", path, res.Status, text)
	}
	return strings.Contains(res.Header.Get("Link"), `rel="next"`)
}

func (c *world) status(login, path string) int {
	c.t.Helper()
	res, _ := c.ask(0, login, "GET", path, "")
	if res == nil {
		c.t.Fatalf("GET %s: no answer", path)
	}
	return res.StatusCode
}
