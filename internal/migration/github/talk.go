package github

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// commentAnswer is what GitHub's comments of all kinds have.
type commentAnswer struct {
	ID        int64        `json:"id"`
	User      *remote.User `json:"user"`
	Body      string       `json:"body"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
	Reactions reactions    `json:"reactions"`
}

func (c *commentAnswer) id() string { return strconv.FormatInt(c.ID, 10) }

// byAge is the query for a list with the oldest first.
const byAge = "?sort=created&direction=asc"

// comments reads the comments of all issues and pull requests.
func (s *Source) comments(ctx context.Context) error {
	type comment struct {
		commentAnswer
		Issue string `json:"issue_url"`
	}
	return each(ctx, s.Client, s.path+"/issues/comments"+byAge, func(c *comment) error {
		number, err := lastNumber(c.Issue)
		if err != nil {
			return err
		}
		err = s.Out.Add(migration.Comments, &migration.Comment{ID: c.id(), Issue: number, Author: s.People.Login(c.User),
			Body: c.Body, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt})
		if err != nil {
			return err
		}
		return s.reactions(ctx, s.path+"/issues/comments/"+c.id(), c.Reactions, migration.Comments, c.id())
	})
}

// lastNumber returns the number at the end of an address.
func lastNumber(address string) (int64, error) {
	n, err := strconv.ParseInt(address[strings.LastIndexByte(address, '/')+1:], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the address %.200q does not end in a number", address)
	}
	return n, nil
}

// reviewComments reads the comments on lines of all pull requests.
func (s *Source) reviewComments(ctx context.Context) error {
	type comment struct {
		commentAnswer
		Pull             string `json:"pull_request_url"`
		Review           int64  `json:"pull_request_review_id"`
		ReplyTo          int64  `json:"in_reply_to_id"`
		Path             string `json:"path"`
		Subject          string `json:"subject_type"`
		Side             string `json:"side"`
		StartSide        string `json:"start_side"`
		DiffHunk         string `json:"diff_hunk"`
		Commit           string `json:"commit_id"`
		Position         int64  `json:"position"`
		Line             int64  `json:"line"`
		Start            int64  `json:"start_line"`
		OriginalCommit   string `json:"original_commit_id"`
		OriginalPosition int64  `json:"original_position"`
		OriginalLine     int64  `json:"original_line"`
		OriginalStart    int64  `json:"original_start_line"`
	}
	return each(ctx, s.Client, s.path+"/pulls/comments"+byAge, func(c *comment) error {
		number, err := lastNumber(c.Pull)
		if err != nil {
			return err
		}
		out := &migration.ReviewComment{ID: c.id(), Pull: number, Review: strconv.FormatInt(c.Review, 10),
			Author: s.People.Login(c.User), Body: c.Body, Path: c.Path, File: c.Subject == "file", Side: c.Side,
			StartSide: c.StartSide, DiffHunk: c.DiffHunk,
			Original: migration.Place{Commit: c.OriginalCommit, Position: c.OriginalPosition, Line: c.OriginalLine,
				Start: c.OriginalStart},
			Current:   migration.Place{Commit: c.Commit, Position: c.Position, Line: c.Line, Start: c.Start},
			CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
		if c.ReplyTo != 0 {
			out.ReplyTo = strconv.FormatInt(c.ReplyTo, 10)
		}
		if err := s.Out.Add(migration.ReviewComments, out); err != nil {
			return err
		}
		return s.reactions(ctx, s.path+"/pulls/comments/"+c.id(), c.Reactions, migration.ReviewComments, c.id())
	})
}

// commitComments reads the comments on commits.
func (s *Source) commitComments(ctx context.Context) error {
	type comment struct {
		commentAnswer
		Commit   string  `json:"commit_id"`
		Path     *string `json:"path"`
		Position int64   `json:"position"`
		Line     int64   `json:"line"`
	}
	return each(ctx, s.Client, s.path+"/comments", func(c *comment) error {
		err := s.Out.Add(migration.CommitComments, &migration.CommitComment{ID: c.id(), Commit: c.Commit,
			Author: s.People.Login(c.User), Body: c.Body, Path: c.Path, Position: c.Position, Line: c.Line,
			CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt})
		if err != nil {
			return err
		}
		return s.reactions(ctx, s.path+"/comments/"+c.id(), c.Reactions, migration.CommitComments, c.id())
	})
}
