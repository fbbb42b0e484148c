package payloads

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Bounds of a push's payload.
const (
	maxCommits = 250     // the newest
	maxListed  = 4 << 20 // bytes of them together
	maxMessage = 32 << 10
	maxTrees   = 5000 // read for paths that were changed; of further commits there are none
	maxNot     = 1000 // branches whose histories are taken off a new one's
)

// ref tells of a branch or tag that was created or deleted.
func (t *told) ref() error {
	name, kind := strings.TrimPrefix(t.about.Ref, "refs/heads/"), "branch"
	if tag, ok := strings.CutPrefix(t.about.Ref, "refs/tags/"); ok {
		name, kind = tag, "tag"
	}
	t.out["ref"], t.out["ref_type"], t.out["full_ref"], t.out["pusher_type"] = name, kind, t.about.Ref,
		t.pusherType()
	if t.d.Event == "create" {
		t.out["master_branch"], t.out["description"] = t.repo.DefaultBranch, t.repo.Description
	}
	return nil
}

func (t *told) pusherType() string { return "user" }

// commitJSON is a commit as pushes show it.
type commitJSON struct {
	ID        git.SHA    `json:"id"`
	Tree      git.SHA    `json:"tree_id"`
	Distinct  bool       `json:"distinct"`
	Message   string     `json:"message"`
	Timestamp string     `json:"timestamp"`
	URL       string     `json:"url"`
	Author    personJSON `json:"author"`
	Committer personJSON `json:"committer"`
	Added     []string   `json:"added"`
	Removed   []string   `json:"removed"`
	Modified  []string   `json:"modified"`
}

type personJSON struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Date  string `json:"date"`
	Login string `json:"username,omitempty"`
}

// push tells of a branch or tag that has moved.
func (t *told) push() error {
	before, after := git.SHA(t.about.Before), git.SHA(t.about.After)
	p := &pushed{told: t, commits: []json.RawMessage{}, trees: maxTrees}
	if err := p.read(&before, after); err != nil && !errs.Is(err, errs.NotFound) {
		return err // nothing to show
	}
	created, deleted := before == git.ZeroSHA, after == git.ZeroSHA
	page := t.info.Page(web.Path(t.repo.Owner.Login, t.repo.Name))
	compare := page + "/compare/" + string(before[:12]) + "..." + string(after[:12])
	if created {
		compare = page + "/commit/" + string(after)
	}
	t.out["ref"], t.out["before"], t.out["after"], t.out["base_ref"] = t.about.Ref, before, after, nil
	t.out["created"], t.out["deleted"], t.out["forced"] = created, deleted, p.forced
	t.out["compare"], t.out["commits"], t.out["head_commit"] = compare, p.commits, p.head
	pusher := object{"name": t.repo.Owner.Login}
	if t.by != nil {
		pusher["name"] = t.by.Login
		if t.by.Email != nil {
			pusher["email"] = *t.by.Email
		}
	}
	t.out["pusher"] = pusher
	return nil
}

// pushed is what a push brought.
type pushed struct {
	*told
	forced  bool
	commits []json.RawMessage
	bytes   int             // of them
	head    json.RawMessage // nil: null
	trees   int             // that may still be read for paths
}

// read reads the commits of a push. Without before, that of a test, it is one commit. Error: 404 for what is
// not there any more.
func (p *pushed) read(before *git.SHA, after git.SHA) error {
	objects, release, err := p.from.Repos.Git(p.ctx, p.repo)
	if err != nil {
		*before = or(*before)
		return err
	}
	defer release()
	if *before == "" {
		c, err := objects.Commit(p.ctx, after)
		if *before = git.ZeroSHA; err == nil && len(c.Parents) > 0 {
			*before = c.Parents[0]
		}
		if err != nil {
			return err
		}
	}
	if after == git.ZeroSHA {
		return nil
	}
	tip, err := objects.PeelToCommit(p.ctx, after)
	if err != nil {
		return orAbsent(err) // a tag of something else
	}
	list, err := p.list(objects, *before, tip)
	if err != nil {
		return err
	}
	if err := p.add(objects, list, tip, true); err != nil || p.head != nil {
		return err
	}
	return p.add(objects, []git.SHA{tip}, tip, false) // the repository had it, or it is too much
}

// add renders commits, up to the bound of all together; listed are those that the push brought.
func (p *pushed) add(objects *git.Repository, shas []git.SHA, tip git.SHA, listed bool) error {
	return objects.EachCommits(p.ctx, shas, func(part []*git.Commit) error {
		logins, err := p.from.Git.Logins(p.ctx, part...)
		if err != nil {
			return err
		}
		for _, c := range part {
			if p.bytes > maxListed && c.SHA != tip {
				continue
			}
			b, err := p.render(objects, c, logins)
			if err != nil {
				return err
			}
			if p.bytes += len(b); listed {
				p.commits = append(p.commits, b)
			}
			if c.SHA == tip {
				p.head = b
			}
		}
		return nil
	})
}

func or(before git.SHA) git.SHA {
	if before == "" {
		return git.ZeroSHA
	}
	return before
}

// orAbsent makes 404 of what names no commit.
func orAbsent(err error) error {
	if errs.Is(err, errs.Invalid) {
		return errs.Absent()
	}
	return err
}

// list finds the commits that a push brought, the oldest first, and notes whether it took others away.
func (p *pushed) list(objects *git.Repository, before, tip git.SHA) ([]git.SHA, error) {
	var not []git.SHA
	if before != git.ZeroSHA {
		old, err := objects.PeelToCommit(p.ctx, before)
		if err == nil {
			base, err := objects.MergeBase(p.ctx, old, tip)
			if err != nil && !errs.Is(err, errs.NotFound) {
				return nil, err
			}
			p.forced = base != old
			not = []git.SHA{old}
		} else if !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.Invalid) {
			return nil, err
		}
	} else {
		var branches map[string]git.SHA
		err := p.db.Read(p.ctx, func(tx *db.Tx) (err error) {
			branches, err = repo.Branches(tx, p.repo.ID)
			return err
		})
		if err != nil {
			return nil, err
		}
		for name, sha := range branches {
			if name != p.about.Ref && len(not) < maxNot {
				not = append(not, sha)
			}
		}
	}
	list, err := objects.NewCommits(p.ctx, []git.SHA{tip}, not, maxCommits)
	slices.Reverse(list)
	return list, err
}

// render makes the JSON of a commit, with the paths that it changed since its first parent.
func (p *pushed) render(
	objects *git.Repository, c *git.Commit, login func(git.Signature) string,
) (json.RawMessage, error) {
	out := commitJSON{ID: c.SHA, Tree: c.Tree, Distinct: true,
		Message:   clip(strings.TrimRight(c.Message, "\n")),
		Timestamp: c.Committer.When.Format(time.RFC3339),
		URL:       p.info.Page(web.Path(p.repo.Owner.Login, p.repo.Name, "commit", string(c.SHA))),
		Author:    newPerson(c.Author, login), Committer: newPerson(c.Committer, login),
		Added: []string{}, Removed: []string{}, Modified: []string{}}
	from := git.EmptyTree
	if len(c.Parents) > 0 {
		from = c.Parents[0]
	}
	added, removed, modified, err := diff.Names(p.ctx, objects, from, c.SHA, &p.trees)
	if err != nil {
		return nil, err
	}
	out.Added, out.Removed = append(out.Added, added...), append(out.Removed, removed...)
	out.Modified = append(out.Modified, modified...)
	b, err := web.Marshal(out)
	return bytes.ToValidUTF8(b, []byte("\uFFFD")), err
}

// clip cuts a long message.
func clip(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	s = s[:maxMessage]
	for !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) && len(s) > maxMessage-utf8.UTFMax {
		s = s[:len(s)-1]
	}
	return s
}

func newPerson(s git.Signature, login func(git.Signature) string) personJSON {
	return personJSON{Name: s.Name, Email: s.Email, Date: s.When.Format(time.RFC3339), Login: login(s)}
}

// status tells what somebody said of a commit.
func (t *told) status() error {
	sha := t.about.After
	commits, err := t.ask(t.from.Git.ListCommits, "/commits?per_page=1&sha="+sha)
	if err != nil {
		return err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(commits, &list); err != nil || len(list) == 0 {
		return errs.Absent()
	}
	t.out["commit"] = list[0]
	t.out["sha"], t.out["name"] = sha, t.repo.FullName()
	s, err := t.from.Statuses.ForHook(t.ctx, t.repo, t.about.ID)
	if err != nil {
		return err
	}
	for name, v := range map[string]any{"id": s.ID, "target_url": s.TargetURL, "avatar_url": s.AvatarURL,
		"context": s.Context, "description": s.Description, "state": s.State, "created_at": s.CreatedAt,
		"updated_at": s.UpdatedAt} {
		t.out[name] = v
	}
	return t.branchesAt(git.SHA(sha))
}

// maxBranchesAt is how many branches a status shows.
const maxBranchesAt = 10

// branchesAt puts the branches whose tip a commit is.
func (t *told) branchesAt(sha git.SHA) error {
	var all map[string]git.SHA
	err := t.db.Read(t.ctx, func(tx *db.Tx) (err error) {
		all, err = repo.Branches(tx, t.repo.ID)
		return err
	})
	list, at := []object{}, t.info.API(web.Path("repos", t.repo.Owner.Login, t.repo.Name, "commits",
		string(sha)))
	names := []string{}
	for name, tip := range all {
		if tip == sha {
			names = append(names, strings.TrimPrefix(name, "refs/heads/"))
		}
	}
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxBranchesAt)] {
		list = append(list, object{"name": name, "commit": object{"sha": sha, "url": at}, "protected": false})
	}
	t.out["branches"] = list
	return err
}

func (t *told) checkRun() error {
	run, err := t.from.Checks.RunForHook(t.ctx, t.repo, t.about.ID)
	t.out["check_run"] = run
	return err
}

func (t *told) checkSuite() error {
	suite, err := t.from.Checks.SuiteForHook(t.ctx, t.repo, t.about.ID)
	t.out["check_suite"] = suite
	return err
}
