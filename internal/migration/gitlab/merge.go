package gitlab

import (
	"cmp"
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// mergeAnswer is GitLab's merge request.
type mergeAnswer struct {
	issueAnswer
	Draft      bool      `json:"draft"`
	OldDraft   bool      `json:"work_in_progress"`
	Source     string    `json:"source_branch"`
	Target     string    `json:"target_branch"`
	From       int64     `json:"source_project_id"` // 0: it is gone
	SHA        string    `json:"sha"`
	MergeSHA   string    `json:"merge_commit_sha"`
	SquashSHA  string    `json:"squash_commit_sha"`
	MergedAt   time.Time `json:"merged_at"`
	MergedBy   *person   `json:"merged_by"`
	MergeUser  *person   `json:"merge_user"` // in place of it, of newer servers
	Reviewers  []*person `json:"reviewers"`
	Modifiable bool      `json:"allow_collaboration"`
	Refs       struct {
		Base  string `json:"base_sha"`
		Start string `json:"start_sha"`
		Head  string `json:"head_sha"`
	} `json:"diff_refs"` // not in lists
}

// draftTitle is what GitLab puts before the title of a draft.
var draftTitle = regexp.MustCompile(`(?i)^(?:draft:|wip:|\[(?:draft|wip)\]|\(draft\))\s*`)

func (s *Source) readMerge(ctx context.Context, iid int64) error {
	var m mergeAnswer
	if err := s.merges.Item(iid, &m); err != nil {
		return err
	}
	at := s.path + "/merge_requests/" + issueKey(iid)
	if err := s.Get(ctx, at, &m); err != nil && !remote.Absent(err) {
		return err
	}
	out, err := s.issueOf(ctx, &m.issueAnswer, mergeKey(iid))
	if err != nil {
		return err
	}
	if out.Pull, err = s.pullOf(ctx, out, &m, iid); err != nil {
		return err
	}
	if err := s.Count(ctx, out.Pull); err != nil {
		return err
	}
	return s.finish(ctx, &conversation{s: s, of: out, at: at})
}

// pullOf returns the fields that only pull requests have. The head is refs/merge-requests/N/head in the
// mirror, since the branch may be gone or elsewhere. The base is the branch of an open one, and the merge
// base of another one.
func (s *Source) pullOf(
	ctx context.Context, i *migration.Issue, m *mergeAnswer, iid int64,
) (*migration.Pull, error) {
	out := &migration.Pull{Base: m.Target, BaseSHA: cmp.Or(m.Refs.Base, m.Refs.Start), Head: m.Source,
		HeadSHA: cmp.Or(m.SHA, m.Refs.Head), Draft: m.Draft || m.OldDraft, Modifiable: m.Modifiable}
	if sha, ok := s.Mirror.PullHeads()[iid]; ok {
		out.HeadSHA = string(sha)
	}
	if out.Draft {
		i.Title = draftTitle.ReplaceAllString(i.Title, "")
	}
	if m.State == "merged" {
		out.MergedAt = cmp.Or(m.MergedAt, i.ClosedAt)
		out.MergedBy = cmp.Or(s.login(m.MergeUser), s.login(m.MergedBy))
		out.MergeSHA = cmp.Or(m.MergeSHA, m.SquashSHA, m.SHA)
		i.ClosedAt, i.ClosedBy, out.Draft = out.MergedAt, cmp.Or(out.MergedBy, i.ClosedBy), false
	} else {
		out.Reviewers = s.logins(m.Reviewers)
	}
	if tip := s.Branch(m.Target); i.State == "open" && tip != "" {
		out.BaseSHA = string(tip)
	}
	return out, s.headOf(ctx, out, i, m)
}

// headOf says where the head of a pull request is.
func (s *Source) headOf(ctx context.Context, out *migration.Pull, i *migration.Issue, m *mergeAnswer) error {
	out.HeadOwner = i.Author
	if m.From == s.about.ID {
		if i.State != "open" || s.Branch(out.Head) != "" { // else it gets one by which it can be merged
			out.HeadRepo = nameOf(s.about.Path)
		}
		return nil
	}
	if m.From < 1 {
		return nil
	}
	from, seen := s.projects[m.From]
	if !seen {
		err := s.Get(ctx, "projects/"+strconv.FormatInt(m.From, 10), &from)
		if err != nil && !remote.Absent(err) {
			return err
		}
		if from.ID != m.From { // it is gone, or not shown
			from = project{}
		}
		from.Description, from.Topics, from.OldTopics = "", nil, nil
		s.projects[m.From] = from
	}
	if from.Namespace.Kind == "user" {
		out.HeadOwner = cmp.Or(s.login(&person{Username: from.Namespace.Path}), out.HeadOwner)
	}
	name, shown := nameOf(from.Path), s.about.hidden() || !s.token || from.Visibility == "public"
	if shown && !strings.EqualFold(name, nameOf(s.about.Path)) {
		out.HeadRepo = name
	}
	return nil
}
