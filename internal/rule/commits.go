package rule

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"arbor/internal/codeowner"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
)

// Bounds of the commits that one update may add where rules look at commits. Beyond them it is refused.
const (
	maxCommits = 10_000
	maxTrees   = 50_000 // read to find changed files
	maxFiles   = 10_000 // whose size is read
)

const tooMuch = "This changes too much at once to be checked. Push it in parts."

// needCommits reports whether a rule of the sets needs to look at commits to judge an update.
func (b *rulebook) needCommits(p *repo.Push, u *repo.RefUpdate, sets []*Ruleset) bool {
	for _, r := range sets {
		for n := range r.Rules {
			if b.needsCommits(r, n, p, u) {
				return true
			}
		}
	}
	return false
}

func (b *rulebook) needsCommits(set *Ruleset, n int, p *repo.Push, u *repo.RefUpdate) bool {
	rule := &set.Rules[n]
	if !concerns(rule, p, u) {
		return false
	}
	switch rule.Kind {
	case NonFastForward:
		return !u.Forward
	case PullRequest:
		return p.Merge == nil && u.Old == git.ZeroSHA ||
			p.Merge != nil && rule.Parameters.(*PullRequestRule).CodeOwners
	case MergeQueue:
		return u.Old == git.ZeroSHA && !b.renames(set, p, u)
	case Checks:
		return p.Merge != nil && !p.Merge.ByQueue() && rule.Parameters.(*ChecksRule).Strict
	case Linear, Signatures, Message, AuthorEmail, CommitterEmail, Paths, PathLength, Extensions, FileSize:
		return true
	}
	return false
}

// renames reports whether a new branch is another one to which the ruleset applies, or which was the default branch,
// under a new name.
func (b *rulebook) renames(set *Ruleset, p *repo.Push, u *repo.RefUpdate) bool {
	return slices.ContainsFunc(p.Updates, func(o repo.RefUpdate) bool {
		return o.New == git.ZeroSHA && o.Old == u.New &&
			(set.applies(b.place, o.Name) || u.Name == git.Heads+b.defaultBranch)
	})
}

// Prepare finds, before the transaction, which rulesets apply to the updates of a push and what their commits
// violate. It fills the findings of each update. All objects must be on disk.
func (s *Service) Prepare(ctx context.Context, p repo.Push) error {
	book, err := db.Get(ctx, s.db, func(tx *db.Tx) (*rulebook, error) { return readRulebook(tx, p.RepoID) })
	if err != nil {
		return err
	}
	var objects *git.Repository
	for i := range p.Updates {
		u := &p.Updates[i]
		u.Findings = &repo.Findings{State: book.state}
		sets := book.on(u.Name)
		for _, r := range sets {
			u.Findings.Rulesets = append(u.Findings.Rulesets, r.ID)
		}
		if !book.needCommits(&p, u, sets) {
			continue
		}
		if objects == nil {
			var release func()
			if objects, release, err = s.repos.GitOf(ctx, p.RepoID); err != nil {
				return err
			}
			defer release()
		}
		i := &inspection{Service: s, ctx: ctx, objects: objects, push: &p, update: u, book: book,
			lists: map[bool][]*git.Commit{}}
		if err := i.run(sets); err != nil {
			return err
		}
	}
	return nil
}

// inspection finds what the commits of one update violate.
type inspection struct {
	*Service
	ctx     context.Context
	objects *git.Repository
	push    *repo.Push
	update  *repo.RefUpdate
	book    *rulebook

	tip     git.SHA                // the new commit; empty: the ref is not one of a commit
	lists   map[bool][]*git.Commit // new commits, without and with those of the default branch left out
	tooMany bool
	trees   int // that may still be read
	files   int
}

func (i *inspection) run(sets []*Ruleset) (err error) {
	i.trees, i.files = maxTrees, maxFiles
	i.tip, err = i.objects.PeelToCommit(i.ctx, i.update.New)
	if err != nil && !errs.Is(err, errs.Invalid) {
		return err
	}
	for _, set := range sets {
		for n := range set.Rules {
			if !i.book.needsCommits(set, n, i.push, i.update) {
				continue
			}
			problem, err := i.ask(set, &set.Rules[n])
			if err != nil {
				return err
			}
			if problem != "" {
				i.update.Findings.Broken = append(i.update.Findings.Broken,
					repo.Finding{Ruleset: set.ID, Rule: n, Problem: problem})
			}
		}
	}
	return nil
}

// ask returns what a rule has against the commits, or "".
func (i *inspection) ask(set *Ruleset, rule *Rule) (string, error) {
	switch rule.Kind {
	case NonFastForward:
		return i.forward()
	case PullRequest:
		if i.push.Merge != nil {
			return i.owned()
		}
		return i.branchedOff("a pull request")
	case MergeQueue:
		return i.branchedOff("the merge queue")
	case Checks:
		m := i.push.Merge
		if upToDate, err := i.objects.IsAncestor(i.ctx, i.update.Old, m.Head); err != nil || upToDate {
			return "", err
		}
		return "The head branch is not up to date with the base branch.", nil
	}
	if i.tip == "" {
		return "", nil // a tag of a file or directory has no commits
	}
	list, err := i.commits(set)
	if err != nil {
		return "", err
	}
	if i.tooMany {
		return tooMuch, nil
	}
	if rule.Kind == Signatures {
		return i.signatures(list)
	}
	for _, c := range list {
		problem, err := i.commit(rule, c)
		if err != nil || problem != "" {
			return problem, err
		}
	}
	return "", nil
}

// owned finds which owners have to review what each merge changes, by the file that the base has before it. It
// returns a problem if that is too much.
func (i *inspection) owned() (string, error) {
	from := i.update.Old
	tips := i.push.Merge.Tips(i.update.New)
	for n, to := range tips {
		list, whole, err := codeowner.Merged(i.ctx, i.objects, from, to)
		if err != nil || !whole {
			return codeowner.TooMuch, err
		}
		for _, o := range list {
			o.Merge = n
			i.update.Findings.Owned = append(i.update.Findings.Owned, o)
		}
		from = to
	}
	return "", nil
}

// forward returns a problem unless the update is a fast-forward.
func (i *inspection) forward() (string, error) {
	const problem = "Cannot force-push to this ref."
	old, err := i.objects.PeelToCommit(i.ctx, i.update.Old)
	if errs.Is(err, errs.Invalid) || err == nil && i.tip == "" {
		return problem, nil
	}
	if err != nil {
		return "", err
	}
	if forward, err := i.objects.IsAncestor(i.ctx, old, i.tip); err != nil || forward {
		return "", err
	}
	return problem, nil
}

// branchedOff returns a problem if a new branch has commits that the default branch lacks: else somebody could
// delete a branch and create it again with other commits.
func (i *inspection) branchedOff(through string) (string, error) {
	if i.book.defaultTip == "" || i.tip == "" {
		return "", nil
	}
	if old, err := i.objects.IsAncestor(i.ctx, i.tip, i.book.defaultTip); err != nil || old {
		return "", err
	}
	return "Changes must be made through " + through + ".", nil
}

// commits returns the commits that the update adds. Those of the default branch count only if the ref exists
// already and the ruleset does not apply to the default branch, where they were not judged.
func (i *inspection) commits(set *Ruleset) ([]*git.Commit, error) {
	without := i.book.defaultTip != "" && i.update.Name != git.Heads+i.book.defaultBranch &&
		(i.update.Old == git.ZeroSHA || slices.Contains(i.book.on(git.Heads+i.book.defaultBranch), set))
	if list, known := i.lists[without]; known {
		return list, nil
	}
	var not []git.SHA
	if i.update.Old != git.ZeroSHA {
		old, err := i.objects.PeelToCommit(i.ctx, i.update.Old)
		if err == nil {
			not = append(not, old)
		} else if !errs.Is(err, errs.Invalid) {
			return nil, err
		}
	}
	if without {
		not = append(not, i.book.defaultTip)
	}
	shas, err := i.objects.NewCommits(i.ctx, []git.SHA{i.tip}, not, maxCommits+1)
	if err != nil {
		return nil, err
	}
	if i.tooMany = len(shas) > maxCommits; i.tooMany {
		return nil, nil
	}
	list, err := i.objects.Commits(i.ctx, shas)
	i.lists[without] = list
	return list, err
}

// commit returns what a rule has against a commit, or "".
func (i *inspection) commit(rule *Rule, c *git.Commit) (string, error) {
	name := "Commit " + string(c.SHA[:7])
	switch p := rule.Parameters.(type) {
	case *PatternRule:
		text, what := strings.TrimRight(c.Message, "\n"), "message"
		switch rule.Kind {
		case AuthorEmail:
			text, what = c.Author.Email, "author's e-mail address"
		case CommitterEmail:
			text, what = c.Committer.Email, "committer's e-mail address"
		}
		if p.matcher()(text) {
			return "", nil
		}
		return name + ": the " + what + " " + p.wants() + ".", nil
	case *PathsRule, *PathLengthRule, *ExtensionsRule, *FileSizeRule:
		return i.paths(p, c, name)
	}
	if rule.Kind == Linear && len(c.Parents) > 1 {
		return name + " is a merge commit, and this ref must have a linear history.", nil
	}
	return "", nil
}

// paths returns what a rule has against the files that a commit changes.
func (i *inspection) paths(p parameters, c *git.Commit, name string) (string, error) {
	list, whole, err := diff.OfCommit(i.ctx, i.objects, c, &i.trees)
	if err != nil {
		return "", err
	}
	if !whole {
		return tooMuch, nil
	}
	for _, f := range list {
		problem, err := i.file(p, &f)
		if err != nil {
			return "", err
		}
		if problem != "" {
			return fmt.Sprintf("%s: the file %q %s.", name, errs.Clip(f.Path), problem), nil
		}
	}
	return "", nil
}

// file returns what a rule has against a changed file, or "".
func (i *inspection) file(p parameters, f *diff.File) (string, error) {
	removed := f.Status == 'D'
	switch p := p.(type) {
	case *PathsRule:
		if slices.ContainsFunc(p.Paths, func(pattern string) bool { return matchName(pattern, f.Path) }) {
			return "may not be changed", nil
		}
	case *PathLengthRule:
		if !removed && int64(utf8.RuneCountInString(f.Path)) > p.Max {
			return fmt.Sprintf("has a path of more than %d characters", p.Max), nil
		}
	case *ExtensionsRule:
		ext := strings.ToLower(path.Ext(f.Path))
		if !removed && ext != "" && slices.ContainsFunc(p.Extensions, func(e string) bool {
			return "."+strings.ToLower(strings.TrimLeft(e, "*.")) == ext
		}) {
			return "has an extension that is not allowed", nil
		}
	case *FileSizeRule:
		if removed || f.Mode.Type() != git.TypeBlob {
			return "", nil
		}
		if i.files--; i.files < 0 {
			return "is one of too many to check; push them in parts", nil
		}
		o, err := i.objects.Info(i.ctx, f.SHA)
		if err == nil && o.Size > p.Max<<20 {
			return fmt.Sprintf("is larger than %d MB", p.Max), nil
		}
		return "", err
	}
	return "", nil
}

// signatures returns a problem unless every commit has a verified signature.
func (i *inspection) signatures(list []*git.Commit) (string, error) {
	c, err := i.Service.signatures.FirstUnverified(i.ctx, list)
	if err != nil || c == nil {
		return "", err
	}
	return "Commit " + string(c.SHA[:7]) + " must have a verified signature.", nil
}
