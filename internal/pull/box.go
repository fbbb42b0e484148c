package pull

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// MergeBox is what somebody who is about to merge a pull request wants to know besides the pull request itself.
type MergeBox struct {
	Known     bool     // there is a test merge of the present tips; closed ones need none
	Conflicts []string // paths that conflict, at most 300, when it does not merge
	Behind    int      // commits of the base that the head lacks, counted up to maxBehind
	CanUpdate bool
	// the head branch is here, needed by nobody else, and may be deleted by the caller
	CanDelete  bool
	HeadGone   bool         // the head branch was deleted
	Methods    []MethodText // those that the repository allows; none for who may not merge
	Rules      []string     // what rules of the base ask before the merge, as sentences
	AllowsAuto bool         // the repository allows auto-merge
	Note       string       // what people should know about the rules; empty: nothing
}

// MethodText is a merge method with its default text.
type MethodText struct {
	Method  string // merge, squash or rebase
	Title   string
	Message string
}

// maxBehind is the maximum to which missing commits of the base are counted.
const maxBehind = 10_000

// MergeBox returns the data of the merge box of a pull request.
func (s *Service) MergeBox(ctx context.Context, a *repo.Access, p *Pull, i *issue.Issue) (*MergeBox, error) {
	o := &MergeBox{Known: !p.Open || p.Tested() || p.BaseTip == "", Conflicts: []string{},
		Methods: []MethodText{}, AllowsAuto: a.Merging.Has(repo.AllowsAutoMerge)}
	if err := s.headOutlook(ctx, a, p, o); err != nil {
		return nil, err
	}
	if !p.Open || p.BaseTip == "" || p.HeadRepoID == 0 {
		return o, nil
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	newer, err := objects.NewCommits(ctx, []git.SHA{p.BaseTip}, []git.SHA{p.HeadSHA}, maxBehind)
	if err != nil {
		return nil, err
	}
	o.Behind = len(newer)
	if o.Rules, o.Note, err = s.rules(ctx, a, p, o.Behind > 0); err != nil {
		return nil, err
	}
	if ok := p.Mergeable(); ok != nil && !*ok {
		m, err := objects.MergeTree(ctx, p.BaseTip, p.HeadSHA)
		if err != nil && !errs.Is(err, errs.TooLarge) {
			return nil, err
		}
		if m != nil && m.Paths != nil {
			o.Conflicts = m.Paths
		}
	}
	if a.Caller == nil || a.Role < account.Push {
		return o, nil
	}
	o.Methods, err = s.said(ctx, objects, a, p, i)
	return o, err
}

// headOutlook determines what the caller may do with the head branch.
func (s *Service) headOutlook(ctx context.Context, a *repo.Access, p *Pull, o *MergeBox) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		if p.HeadRepoID == 0 {
			o.HeadGone = true
			return nil
		}
		tip, err := repo.BranchTip(tx, p.HeadRepoID, p.HeadRef)
		if err != nil {
			return err
		}
		o.HeadGone = tip == ""
		if o.HeadGone || a.Caller == nil {
			return nil
		}
		o.CanUpdate = p.Open && mayUpdateIn(tx, a, p) == nil
		heads, err := repo.Accesses(tx, a.Caller, []repo.ID{p.HeadRepoID})
		if err != nil || len(heads) == 0 || heads[0].Archived {
			return err
		}
		if p.Open || heads[0].Role < account.Push || p.HeadRepoID != a.ID || p.HeadRef == a.DefaultBranch || tip != p.HeadSHA {
			return nil
		}
		needed, err := openOf(tx, p.HeadRepoID, p.HeadRef)
		o.CanDelete = err == nil && !needed
		return err
	})
}

// said lists the allowed methods with their default texts.
func (s *Service) said(
	ctx context.Context, objects *git.Repository, a *repo.Access, p *Pull, i *issue.Issue,
) ([]MethodText, error) {
	list := []MethodText{}
	if MergeCommit.allowed(a.Merging) == nil {
		text, err := s.mergeMessage(ctx, p, i, a.Merging, MergeOptions{})
		if err != nil {
			return nil, err
		}
		list = append(list, newSaid("merge", text))
	}
	if Squash.allowed(a.Merging) == nil {
		title, body, err := squashText(ctx, objects, p, i, a.Merging)
		if err != nil {
			return nil, err
		}
		list = append(list, newSaid("squash", join(title, body)))
	}
	if Rebase.allowed(a.Merging) == nil {
		list = append(list, MethodText{Method: "rebase"})
	}
	return list, nil
}

func newSaid(method, message string) MethodText {
	title, rest, _ := strings.Cut(message, "\n")
	return MethodText{method, title, strings.TrimSpace(rest)}
}

// squashText returns the default text of a squash. It reads only the commits whose messages are needed.
func squashText(
	ctx context.Context, objects *git.Repository, p *Pull, i *issue.Issue, set repo.Merging,
) (title, body string, err error) {
	total, shas := int(p.Commits), []git.SHA{}
	switch {
	case total == 1:
		shas = append(shas, p.HeadSHA)
	case set.Has(repo.SquashWithMessages):
		if shas, total, err = objects.PullCommits(ctx, p.BaseTip, p.HeadSHA); err != nil {
			return "", "", err
		}
	}
	commits, err := objects.Commits(ctx, shas)
	if err != nil {
		return "", "", err
	}
	title, body = squashDefault(i, commits, total, set)
	return title, body, nil
}
