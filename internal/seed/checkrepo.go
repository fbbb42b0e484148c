package seed

import (
	"slices"
	"time"

	"arbor/internal/git"
)

// step is one step of a repository's history: a commit on a branch, a branch that
// begins where another is, or a tag.
type step struct {
	at     *position
	branch string
	from   string  // a branch or tag where the branch begins, if it is new; empty: nowhere
	commit *Commit // nil: the branch only
	tag    *Tag
}

// plan lists a repository's history in the order in which it is made. Somebody who
// makes a commit, and when, is filled in.
func (r *Repo) plan() []step {
	var list []step
	when := r.CreatedAt
	add := func(at *position, branch, from string, c Commit) {
		if c.Date.IsZero() {
			c.Date = when
		}
		if !c.Author.is() {
			c.Author.Login = r.admin
		}
		if !c.Committer.is() {
			c.Committer = c.Author
		}
		when = c.Date.Add(time.Minute)
		list = append(list, step{at: at, branch: branch, from: from, commit: &c})
	}
	if r.lines["files"] > 0 {
		add(&r.position, r.DefaultBranch, "", Commit{position: r.position, Message: "Initial commit", Files: r.Files})
	}
	for i := range r.Commits {
		c := &r.Commits[i]
		if c.Branch == "" {
			c.Branch = r.DefaultBranch
		}
		add(&c.position, c.Branch, c.From, *c)
	}
	for i := range r.Branches {
		b := &r.Branches[i]
		if b.From == "" {
			b.From = r.DefaultBranch
		}
		list = append(list, step{at: &b.position, branch: b.Name, from: b.From})
		if b.lines["files"] > 0 {
			add(&b.position, b.Name, "", Commit{position: b.position, Message: "Add the files of " + b.Name,
				Files: b.Files})
		}
		for j := range b.Commits {
			add(&b.Commits[j].position, b.Name, "", b.Commits[j])
		}
	}
	for i := range r.Tags {
		t := &r.Tags[i]
		if t.Date.IsZero() {
			t.Date = when
		}
		if !t.Tagger.is() {
			t.Tagger.Login = r.admin
		}
		list = append(list, step{at: &t.position, tag: t})
	}
	return list
}

// names are the branches and tags of a repository while its history is made.
type names struct {
	branches, tags []string
	open           bool // there may be others, which an import brings
}

func (n *names) has(name string) bool {
	return n.open || slices.Contains(n.branches, name) || slices.Contains(n.tags, name)
}

func (n *names) hasBranch(name string) bool { return n.open || slices.Contains(n.branches, name) }

// checkHistory checks the branches, commits and tags, and remembers which there
// are in the end.
func (c *checker) checkHistory(r *Repo) {
	if r.names != nil {
		return
	}
	r.names = &names{open: r.Import != ""}
	if r.parent != nil {
		c.checkHistory(r.parent)
		*r.names = names{slices.Clone(r.parent.names.branches), slices.Clone(r.parent.names.tags),
			r.parent.names.open}
		if len(r.names.branches) == 0 && !r.names.open {
			c.wrong(&r.position, "fork", "%s is empty: nothing can be forked", r.Fork)
		}
	}
	for i := range r.Branches {
		b := &r.Branches[i]
		for j := range b.Commits {
			for _, key := range []string{"branch", "from"} {
				if b.Commits[j].lines[key] > 0 {
					c.wrong(&b.Commits[j].position, key, "these commits stand on the branch %s", b.Name)
				}
			}
		}
	}
	r.steps = r.plan()
	for i := range r.steps {
		c.checkStep(r, &r.steps[i])
	}
	if r.DefaultBranch != "main" && !r.names.hasBranch(r.DefaultBranch) {
		c.wrong(&r.position, "default_branch", "branch %q not found", r.DefaultBranch)
	}
}

func (c *checker) checkStep(r *Repo, s *step) {
	n := r.names
	if s.tag != nil {
		c.checkTag(r, s.tag)
		return
	}
	if err := git.CheckRefName("refs/heads/" + s.branch); err != nil {
		c.wrong(s.at, branchKey(s), "%v", err)
	}
	known := slices.Contains(n.branches, s.branch)
	switch {
	case s.from != "" && !n.has(s.from):
		c.wrong(s.at, "from", "branch or tag %q does not exist yet", s.from)
	case known && s.from != "":
		c.wrong(s.at, branchKey(s), "the branch %q is there already", s.branch)
	case !known && s.from == "" && !n.open && len(n.branches) > 0:
		c.wrong(s.at, branchKey(s), "the branch %q is new: say where it begins, by from", s.branch)
	}
	if !known {
		n.branches = append(n.branches, s.branch)
	}
	if s.commit != nil {
		c.checkCommit(r, s.at, s.commit)
	}
}

// branchKey is the key that names the branch of a step.
func branchKey(s *step) string {
	if s.commit == nil {
		return "name"
	}
	return "branch"
}

// modes are what the mode of a file may be.
var modes = map[string]git.Mode{"100644": git.ModeFile, "100755": git.ModeExecutable,
	"120000": git.ModeSymlink}

func (c *checker) checkCommit(r *Repo, at *position, m *Commit) {
	for _, name := range m.Merge {
		if !r.names.has(name) {
			c.wrong(at, "merge", "branch or tag %q does not exist yet", name)
		}
	}
	c.person(&m.Author)
	if m.Committer.key != m.Author.key { // else it is the same one
		c.person(&m.Committer)
	}
	for i := range m.Files {
		f := &m.Files[i]
		if f.Mode == "" {
			f.Mode = "100644"
		}
		if reason := git.PathProblem(f.Path, modes[f.Mode]); reason != "" {
			c.wrong(&f.position, "", "the path %s", reason)
		}
	}
	if m.Tag != "" {
		c.newTag(r, at, "tag", m.Tag)
	}
}

// person checks an author: a login, or a name and an address.
func (c *checker) person(p *Person) {
	if p.Login != "" {
		if p.is() {
			c.known(&p.position, "", p.Login)
		}
		return
	}
	if err := (git.Signature{Name: p.Name, Email: p.Email, When: Start}).Check(); p.is() && err != nil {
		c.wrong(&p.position, "", "%v", err)
	}
}

func (c *checker) checkTag(r *Repo, t *Tag) {
	if t.Target == "" {
		t.Target = r.DefaultBranch
	}
	if !r.names.has(t.Target) {
		c.wrong(&t.position, "target", "branch or tag %q does not exist yet", t.Target)
	}
	c.person(&t.Tagger)
	c.newTag(r, &t.position, "name", t.Name)
}

func (c *checker) newTag(r *Repo, at *position, key, name string) {
	if err := git.CheckRefName("refs/tags/" + name); err != nil {
		c.wrong(at, key, "%v", err)
	} else if slices.Contains(r.names.tags, name) {
		c.wrong(at, key, "the tag %q is there already", name)
	}
	r.names.tags = append(r.names.tags, name)
}
