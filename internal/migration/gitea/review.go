package gitea

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
	"arbor/internal/review"
)

type reviewAnswer struct {
	ID          int64        `json:"id"`
	User        *remote.User `json:"user"`
	State       string       `json:"state"`
	Body        string       `json:"body"`
	Commit      string       `json:"commit_id"`
	Dismissed   bool         `json:"dismissed"`
	Comments    int64        `json:"comments_count"`
	SubmittedAt time.Time    `json:"submitted_at"`
}

// stateOf has the states of reviews that are submitted.
var stateOf = map[string]string{"APPROVED": "approved", "COMMENT": "commented", "REQUEST_CHANGES": "changes_requested"}

// reviews reads the reviews of a pull request with their comments on lines. It returns their states before dismissals,
// by id, and how many comments there are.
func (s *Source) reviews(ctx context.Context, at string, of *migration.Issue) (
	states map[int64]string, onLines int64, err error,
) {
	states = map[int64]string{}
	var comments []*migration.ReviewComment
	err = each(ctx, s.Client, at+"/reviews", func(r *reviewAnswer) error {
		state := stateOf[r.State]
		if state == "" { // a draft, or a request
			return nil
		}
		states[r.ID] = state
		if r.Dismissed {
			state = "dismissed"
		}
		commit := cmp.Or(r.Commit, of.Pull.HeadSHA)
		err := s.Out.Add(migration.Reviews, &migration.Review{ID: strconv.FormatInt(r.ID, 10), Pull: of.Number,
			Author: s.People.Login(r.User), State: state, Body: r.Body, Commit: commit, SubmittedAt: r.SubmittedAt})
		if err != nil || r.Comments == 0 {
			return err
		}
		list, err := s.onLines(ctx, at, r.ID, of, commit)
		comments = append(comments, list...)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return states, int64(len(comments)), s.addOnLines(ctx, of, comments)
}

type lineAnswer struct {
	ID        int64        `json:"id"`
	User      *remote.User `json:"user"`
	Resolver  *remote.User `json:"resolver"`
	Body      string       `json:"body"`
	Path      string       `json:"path"`
	Line      int64        `json:"position"`          // after the change
	OldLine   int64        `json:"original_position"` // before it
	DiffHunk  string       `json:"diff_hunk"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
}

// onLines reads the comments of a review. Comments on one line are a conversation: the later ones reply to
// the first. Lines are counted in the reviewed commit. The commit in the API's answer is another: it last
// changed the line.
func (s *Source) onLines(
	ctx context.Context, at string, review int64, of *migration.Issue, commit string,
) (list []*migration.ReviewComment, err error) {
	id := strconv.FormatInt(review, 10)
	var found []*lineAnswer
	err = all(ctx, s.Client, at+"/reviews/"+id+"/comments", func(c *lineAnswer) error {
		found = append(found, c)
		return nil
	})
	slices.SortFunc(found, func(a, b *lineAnswer) int { return cmp.Compare(a.ID, b.ID) })
	first := map[string]string{}
	for _, c := range found {
		out := &migration.ReviewComment{ID: strconv.FormatInt(c.ID, 10), Pull: of.Number, Review: id,
			Author: s.People.Login(c.User), Body: c.Body, Path: c.Path, Side: "RIGHT", DiffHunk: c.DiffHunk,
			Original: migration.Place{Commit: commit, Line: c.Line}, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
		if c.Line == 0 {
			out.Side, out.Original.Line = "LEFT", c.OldLine
		}
		on := fmt.Sprintf("%s %d %s", out.Side, out.Original.Line, out.Path)
		if first[on] == "" {
			first[on] = out.ID
			if c.Resolver != nil && err == nil {
				err = s.Out.Add(migration.Threads, &migration.Thread{Comment: out.ID, Pull: of.Number,
					ResolvedBy: s.People.Login(c.Resolver), ResolvedAt: of.UpdatedAt})
			}
		} else {
			out.ReplyTo = first[on]
		}
		list = append(list, out)
	}
	return list, err
}

// addOnLines writes the comments on lines of a pull request, with their places in its changes.
func (s *Source) addOnLines(ctx context.Context, of *migration.Issue, list []*migration.ReviewComment) error {
	slices.SortFunc(list, func(a, b *migration.ReviewComment) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), len(a.ID)-len(b.ID), cmp.Compare(a.ID, b.ID))
	})
	by := map[string][]*migration.ReviewComment{}
	for _, c := range list {
		by[c.Original.Commit] = append(by[c.Original.Commit], c)
	}
	for _, commit := range slices.Sorted(maps.Keys(by)) {
		if err := s.place(ctx, git.SHA(of.Pull.BaseSHA), git.SHA(commit), by[commit]); err != nil {
			return err
		}
	}
	for _, c := range list {
		if c.Current = c.Original; c.Original.Position == 0 { // outdated
			c.Current.Line = 0
		}
		if err := s.Out.Add(migration.ReviewComments, c); err != nil {
			return err
		}
		err := s.reactions(ctx, all, s.path+"/issues/comments/"+c.ID, migration.ReviewComments, c.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

// place computes the positions of comments in the changes of a pull request up to a commit, since the API
// does not have them. A comment is outdated if the changes do not show its line, or if its commit is gone.
func (s *Source) place(ctx context.Context, base, commit git.SHA, list []*migration.ReviewComment) error {
	if base.Check() != nil || commit.Check() != nil {
		return nil
	}
	names := make([]string, len(list))
	for n, c := range list {
		names[n] = c.Path
	}
	objects := s.Objects()
	common, err := objects.PullBase(ctx, base, commit)
	var changes *diff.Changes
	if err == nil {
		changes, err = diff.FilesNamed(ctx, objects, common, commit, names)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.Leave("the places of comments on lines of the commit %s: %v", commit, err)
		return nil
	}
	for _, c := range list {
		for n := range changes.Files {
			if f := &changes.Files[n]; f.Path == c.Path {
				if position, hunk := review.Locate(f.Patch, c.Side == "LEFT", c.Original.Line); position != 0 {
					c.Original.Position, c.DiffHunk = position, hunk
				}
			}
		}
	}
	return nil
}
