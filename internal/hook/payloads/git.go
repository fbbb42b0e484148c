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
)

// completers add what git knows of the objects that an event names.
var completers = map[string]func(s *sending) error{
	"push":        (*sending).push,
	"status":      (*sending).status,
	"check_suite": (*sending).checkSuite,
}

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

// push renders the move of a branch or tag.
func (s *sending) push() error {
	before, after := git.SHA(s.d.About.Before), git.SHA(s.d.About.After)
	p := &pushed{sending: s, commits: []json.RawMessage{}, trees: maxTrees}
	if err := p.read(&before, after); err != nil && !errs.Is(err, errs.NotFound) {
		return err // nothing to show
	}
	created, deleted := before == git.ZeroSHA, after == git.ZeroSHA
	page := s.info.Page(web.Path(s.repo.Owner.Login, s.repo.Name))
	compare := page + "/compare/" + string(before[:12]) + "..." + string(after[:12])
	if created {
		compare = page + "/commit/" + string(after)
	}
	pusher := object{"name": s.sender}
	if s.by != nil && s.by.Email != nil { // not what was hidden since
		pusher["email"] = *s.by.Email
	}
	return s.add(object{"ref": s.d.About.Ref, "before": before, "after": after, "base_ref": nil,
		"created": created, "deleted": deleted, "forced": p.forced, "compare": compare,
		"commits": p.commits, "head_commit": p.head, "pusher": pusher})
}

// pushed is what a push brought.
type pushed struct {
	*sending
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

// orAbsent turns the error for an object that is not a commit into 404.
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
		not = p.told.Not
	}
	list, err := objects.NewCommits(p.ctx, []git.SHA{tip}, not, maxCommits)
	slices.Reverse(list)
	return list, err
}

// render returns the JSON of a commit, with the paths that it changed since its first parent.
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

// status adds the commit, as the API lists it. Error: 404 for a commit that is gone.
func (s *sending) status() error {
	of := repo.Of[git.SHA]{In: s.repo, Key: git.SHA(s.d.About.After)}
	found, err := s.from.Git.Commits(s.ctx, []repo.Of[git.SHA]{of})
	if err != nil {
		return err
	}
	if found[of] == nil {
		return errs.Absent()
	}
	return s.add(object{"commit": found[of]})
}

// checkSuite adds the head_commit.
func (s *sending) checkSuite() error {
	var suite map[string]json.RawMessage
	var known struct {
		SHA       git.SHA   `json:"head_sha"`
		CreatedAt time.Time `json:"created_at"`
	}
	if err := json.Unmarshal(s.out["check_suite"], &suite); err != nil {
		return err
	}
	if err := json.Unmarshal(s.out["check_suite"], &known); err != nil {
		return err
	}
	head, err := s.from.Checks.HeadForHook(s.ctx, s.repo, known.SHA, db.FromTime(known.CreatedAt))
	if err != nil {
		return err
	}
	if suite["head_commit"], err = web.Marshal(head); err != nil {
		return err
	}
	return s.add(object{"check_suite": suite})
}
