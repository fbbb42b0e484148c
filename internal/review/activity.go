package review

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/text"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Feed holds the reviews and comments of several repositories for activity feeds and webhooks. It is loaded
// with a fixed number of queries and does not use git to find the current positions of comments.
type Feed struct {
	page     *page
	numbers  map[issue.ID]int64 // of pull requests, by issue id
	reviews  []*Review
	comments []*Comment
}

// LoadFeed reads the reviews and comments with the given ids that belong to the given repositories. All of
// list must have the same caller. numbers are the numbers of the pull requests by issue id.
func LoadFeed(
	ctx context.Context, tx *db.Tx, list []*repo.Access, numbers map[issue.ID]int64, reviews,
	comments []int64,
) (*Feed, error) {
	f := &Feed{page: newPage(ctx, list...), numbers: numbers}
	var authors []account.ID
	var reacted []int64
	var err error
	if f.reviews, err = shownReviews(tx, reviews); err != nil {
		return nil, err
	}
	for _, v := range f.reviews {
		authors = append(authors, v.AuthorID)
	}
	if f.comments, err = shownComments(tx, comments); err != nil {
		return nil, err
	}
	for _, c := range f.comments {
		authors, c.HeadSHA = append(authors, c.AuthorID), c.Current
		if c.Reacted {
			reacted = append(reacted, c.ID)
		}
	}
	if len(authors) == 0 {
		return f, nil
	}
	if f.page.info.Media.Preview(web.Reactions) && len(reacted) > 0 {
		if f.page.rollups, err = reaction.Rollups(tx, reaction.ReviewComment, reacted); err != nil {
			return nil, err
		}
	}
	return f, f.page.load(tx, authors)
}

// Bodies renders the texts of the loaded reviews and comments. It must run outside a transaction.
func (f *Feed) Bodies(out *web.Output, s *issue.Service) error {
	texts := make([]text.Source, 0, len(f.reviews)+len(f.comments))
	for _, v := range f.reviews {
		texts = append(texts, text.Source{Access: f.page.in[v.RepoID], Body: &v.Body})
	}
	for _, c := range f.comments {
		texts = append(texts, text.Source{Access: f.page.in[c.RepoID], Body: &c.Body})
	}
	var err error
	f.page.bodies, err = s.Bodies(out, texts)
	return err
}

// Review returns the payload of a loaded review, with the state name of webhooks, or nil if it was not
// loaded. It returns an error if its body cannot be rendered.
func (f *Feed) Review(id int64) (any, error) {
	for n, v := range f.reviews {
		if v.ID == id {
			return f.page.review(n, v, f.numbers[v.IssueID], eventNames[v.State])
		}
	}
	return nil, nil
}

// Comment returns the payload of a loaded comment, or nil if it was not loaded. It returns an error if its
// body cannot be rendered.
func (f *Feed) Comment(id int64) (any, error) {
	for n, c := range f.comments {
		if c.ID == id {
			return f.page.comment(len(f.reviews)+n, c)
		}
	}
	return nil, nil
}
