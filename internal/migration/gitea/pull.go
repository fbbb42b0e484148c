package gitea

import (
	"context"
	"strconv"
	"strings"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// pullAnswer is Gitea's pull request, as far as it is no issue.
type pullAnswer struct {
	Base       side           `json:"base"`
	Head       side           `json:"head"`
	MergeBase  string         `json:"merge_base"`
	Draft      bool           `json:"draft"`
	Modifiable bool           `json:"allow_maintainer_edit"`
	MergedAt   time.Time      `json:"merged_at"`
	MergedBy   *remote.User   `json:"merged_by"`
	MergeSHA   string         `json:"merge_commit_sha"`
	OnLines    int64          `json:"review_comments"`
	Reviewers  []*remote.User `json:"requested_reviewers"`
}

type side struct {
	Label string `json:"label"` // the branch; empty: there is none, and git push made the pull request
	Ref   string `json:"ref"`   // the branch, or refs/pull/N/head where that is gone
	SHA   string `json:"sha"`
	Repo  *struct {
		FullName string       `json:"full_name"`
		Owner    *remote.User `json:"owner"`
	} `json:"repo"`
}

// pull reads the fields that only pull requests have, and the reviews. It returns the states of reviews by
// id, and the number of comments on lines.
func (s *Source) pull(ctx context.Context, out *migration.Issue) (states map[int64]string, onLines int64, err error) {
	at := s.path + "/pulls/" + strconv.FormatInt(out.Number, 10)
	var p pullAnswer
	if err := s.Get(ctx, at, &p); err != nil {
		return nil, 0, err
	}
	out.Pull = s.pullOf(out, &p)
	if err := s.Count(ctx, out.Pull); err != nil {
		return nil, 0, err
	}
	states, seen, err := s.reviews(ctx, at, out)
	return states, max(seen, p.OnLines), err
}

// pullOf returns the record. The head is refs/pull/N/head in the mirror, since the branch may have moved
// after the pull request was closed. The base is the base branch of an open pull request, and the merge base
// of a closed one.
func (s *Source) pullOf(i *migration.Issue, p *pullAnswer) *migration.Pull {
	out := &migration.Pull{Base: p.Base.Ref, BaseSHA: p.Base.SHA, Head: p.Head.Label, HeadSHA: p.Head.SHA,
		Draft: p.Draft, Modifiable: p.Modifiable, MergedAt: p.MergedAt, MergedBy: s.People.Login(p.MergedBy),
		Reviewers: s.People.Logins(p.Reviewers)}
	if sha, ok := s.Mirror.PullHeads()[i.Number]; ok {
		out.HeadSHA = string(sha)
	}
	if p.MergeBase != "" && (i.State != "open" || out.BaseSHA == "") {
		out.BaseSHA = p.MergeBase
	}
	if !p.MergedAt.IsZero() {
		out.MergeSHA = p.MergeSHA
	}
	if p.Head.Repo != nil {
		out.HeadOwner, out.HeadRepo = s.People.Login(p.Head.Repo.Owner), p.Head.Repo.FullName
	} else {
		out.HeadOwner = i.Author
	}
	own := strings.EqualFold(out.HeadRepo, s.about.FullName)
	switch {
	case out.Head == "":
		out.Head, out.HeadOwner, out.HeadRepo = "pull-"+i.Key(), i.Author, ""
	case own && i.State == "open" && s.Branch(out.Head) == "": // it gets one by which it can be merged
		out.HeadRepo = ""
	}
	return out
}
