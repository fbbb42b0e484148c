package gitea

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

type reviewAnswer struct {
	remote.Review
	Dismissed bool  `json:"dismissed"`
	Comments  int64 `json:"comments_count"`
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
		commit, err := s.AddReview(&r.Review, of, state)
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
	return states, int64(len(comments)), s.AddOnLines(ctx, of, comments,
		func(c *migration.ReviewComment) error {
			return s.reactions(ctx, all, s.path+"/issues/comments/"+c.ID, migration.ReviewComments, c.ID)
		})
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
