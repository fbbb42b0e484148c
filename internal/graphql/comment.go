package graphql

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"arbor/internal/account"
	"arbor/internal/commitcomment"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/issue/text"
	"arbor/internal/reaction"
	"arbor/internal/release"
	"arbor/internal/review"
	"arbor/internal/web"
)

// comments resolves the comments of an issue or a pull request.
func comments(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	order, ok := f.Args["orderBy"].(map[string]any)
	if !ok {
		return connections(allComments)(ctx, f, parents)
	}
	q, media := queryOf(ctx), textMedia(f)
	commentLists(q, media).loadAll(ctx, q, objectsOf(parents), mostComments)
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		list, err := commentLists(q, media).all(ctx, q, o, mostComments)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(list, func(x, y *comment.Payload) int { return cmp.Compare(x.UpdatedAt, y.UpdatedAt) })
		if order["direction"] == "DESC" {
			slices.Reverse(list)
		}
		all := make([]any, len(list))
		for n, c := range list {
			all[n] = newComment(o.repo, o, c, media)
		}
		return connectAll(f, "IssueCommentConnection", all)
	})(ctx, f, parents)
}

// mostComments limits how many hundreds of comments are sorted.
const mostComments = 3

func commentLists(q *query, media string) listLoader[int64, *comment.Payload] {
	l := loader[int64, *web.List[*comment.Payload]]{name: "comments", route: "/issues/{number}/comments", media: media,
		key: byNumber}
	return lists(l, q.load.Comments.ListMany)
}

func allComments(ctx context.Context, f *exec.Field, o *object) (pages[*comment.Payload], error) {
	q, media := queryOf(ctx), textMedia(f)
	return pages[*comment.Payload]{kind: "IssueCommentConnection", many: commentLists(q, media),
		rank:  rankByID(idOfComment),
		count: func() (int, error) { return int(viewOf(o).Comments), nil },
		node:  func(c *comment.Payload) (any, error) { return newComment(o.repo, o, c, media), nil }}, nil
}

func idOfComment(c *comment.Payload) int64 { return c.ID }

// commentsByID loads comments by id.
func commentsByID(q *query, media string) loader[int64, *comment.Payload] {
	return loader[int64, *comment.Payload]{name: "comments by id", route: "/issues/comments/{id}", media: media, key: byID,
		read: q.load.Comments.ByIDs}
}

// newComment returns a comment of an issue or a pull request.
func newComment(in, of *object, c *comment.Payload, media string) *object {
	return &object{kind: "IssueComment", value: c, whole: true, id: c.ID, repo: in, of: of, media: media}
}

func commentFields() map[string]exec.Resolver {
	return after(isKnown, merge(reactable(), written(), editable(one(canUpdate), one(canUpdate)), minimizable(),
		map[string]exec.Resolver{
			"fullDatabaseId": key(func(o *object) any { return decimal(o.id) }),
			"publishedAt":    ofWords(func(_ context.Context, w words) any { return w.created }),
			"repository":     inRepository, "issue": issueOfComment, "pullRequest": pullOfComment,
		}))
}

// issueOfComment resolves the issues of comments, which may be pull requests.
func issueOfComment(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, of, missing, media := queryOf(ctx), map[*object]*object{}, []*object{}, textMedia(f)
	for _, o := range objectsOf(parents) {
		if of[o] = o.of; o.of == nil || o.of.kind != "Issue" {
			of[o] = issueAt(o.repo, o.value.(*comment.Payload).Number, media)
			missing = append(missing, of[o])
		}
	}
	numberedThings(q, media).load(ctx, q, missing)
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		if of[o] == o.of {
			return o.of, nil
		}
		found, err := q.issueOrPull(ctx, of[o])
		if err != nil {
			return nil, err
		}
		found.kind, found.whole = "Issue", true // also of a pull request, as at GitHub
		return found, nil
	})(ctx, f, parents)
}

// pullOfComment resolves the pull requests of comments; null for those of issues.
func pullOfComment(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	values := issueOfComment(ctx, f, parents)
	for n, v := range values {
		if o, ok := v.(*object); ok {
			if view, isView := o.value.(*issue.View); isView && !view.Pull {
				values[n] = nil
				continue
			}
			values[n] = pullAt(o.repo, o.number, "raw")
		}
	}
	return values
}

// words are what everything that people write in a conversation has in common.
type words struct {
	by               *account.Account // of an issue or a pull request
	user             *account.Simple  // of everything else
	association      string
	created, updated db.Time
	text             text.Payload
	address          string
	reactions        reaction.Rollup
}

// wordsOf returns what a loaded object has of these. REST does not say when a review was changed.
func wordsOf(ctx context.Context, o *object) words {
	switch v := o.value.(type) {
	case *comment.Payload:
		return words{user: v.User, association: v.Association, created: v.CreatedAt, updated: v.UpdatedAt,
			text: v.Payload, address: v.HTMLURL, reactions: rollupOf(v.Reactions)}
	case *review.Payload:
		return words{user: v.User, association: v.Association, created: v.SubmittedAt, updated: v.SubmittedAt,
			text: v.Payload, address: v.HTMLURL}
	case *review.ThreadComment:
		return words{user: v.User, association: v.Association, created: v.CreatedAt, updated: v.UpdatedAt,
			text: v.Payload, address: v.HTMLURL, reactions: rollupOf(v.Reactions)}
	case *commitcomment.Shown:
		return words{user: v.User, association: v.Association, created: v.CreatedAt, updated: v.UpdatedAt,
			text: v.Payload.Payload, address: v.HTMLURL, reactions: rollupOf(v.Reactions)}
	case *release.Payload:
		return words{user: v.Author, text: v.Payload, reactions: v.Rollup}
	}
	v := viewOf(o)
	return words{by: v.Author, association: v.Association, created: v.CreatedAt, updated: v.UpdatedAt, text: v.Texts,
		address: pageOf(ctx, v), reactions: v.Reactions}
}

func rollupOf(r *reaction.Object) reaction.Rollup {
	if r == nil {
		return reaction.Rollup{}
	}
	return r.Rollup
}

// ofWords is pick for what people write.
func ofWords(part func(ctx context.Context, w words) any) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		return part(ctx, wordsOf(ctx, o)), nil
	})
}

// written returns the fields of everything that users write in a conversation.
func written() map[string]exec.Resolver {
	return merge(edited(), map[string]exec.Resolver{
		"id": key(nodeOf), "databaseId": key(func(o *object) any { return o.id }),
		"author": ofWords(func(ctx context.Context, w words) any {
			if w.by != nil {
				return person(ctx, w.by)
			}
			return newAccount(w.user)
		}),
		"authorAssociation": ofWords(func(_ context.Context, w words) any { return w.association }),
		"body": ofWords(func(_ context.Context, w words) any {
			if w.text.Raw == nil {
				return ""
			}
			return orEmpty(*w.text.Raw)
		}),
		"bodyText":  texts(func(t text.Payload) **string { return t.Text }),
		"bodyHTML":  texts(func(t text.Payload) **string { return t.HTML }),
		"createdAt": ofWords(func(_ context.Context, w words) any { return w.created }),
		"updatedAt": ofWords(func(_ context.Context, w words) any { return w.updated }),
		// Replies by mail become comments on issues and pull requests, and nothing else.
		"createdViaEmail": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			c, is := o.value.(*comment.Payload)
			return is && c.ByMail, nil
		}),
		"url":          ofWords(func(_ context.Context, w words) any { return w.address }),
		"resourcePath": ofWords(func(_ context.Context, w words) any { return pathOf(w.address) }),
		"viewerDidAuthor": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return didAuthor(ctx, o), nil
		}),
	})
}

// nodeOf returns the node id of what somebody wrote.
func nodeOf(o *object) any {
	kind := o.kind
	if v, ok := o.value.(*issue.View); ok && v.Pull { // of a comment on a pull request
		kind = "PullRequest"
	}
	return account.NodeID(kind, o.id)
}

func didAuthor(ctx context.Context, o *object) bool {
	w := wordsOf(ctx, o)
	if w.by != nil {
		return w.by.Login == viewer(ctx).Login
	}
	return loginOf(w.user) == viewer(ctx).Login
}

func loginOf(a *account.Simple) string {
	if a == nil {
		return ""
	}
	return a.Login
}

// texts resolves a text as HTML or as plain text. Values contain these forms only if they were loaded for them, so
// the others are loaded again, all together.
func texts(form func(t text.Payload) **string) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		has := func(o *object) bool { return form(wordsOf(ctx, o).text) != nil }
		objects := objectsOf(parents)
		for _, o := range objects {
			if !has(o) {
				o.media = "full"
			}
		}
		missing := queryOf(ctx).fill(ctx, objects, has)
		return one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			shown := form(wordsOf(ctx, o).text)
			if err := missing[o]; err != nil || shown == nil {
				return nil, cmp.Or[error](err, errs.Absent())
			}
			return orEmpty(*shown), nil
		})(ctx, f, parents)
	}
}

// commentsBy resolves the comments that users wrote where the caller sees them.
func commentsBy(_ context.Context, f *exec.Field, _ *object) (pages[comment.Written], error) {
	media := textMedia(f)
	by, desc, err := orderBy(f, map[string]string{"UPDATED_AT": "updated"})
	o := comment.Order{Updated: by != "", Desc: desc}
	read := func(ctx context.Context, q *query, of []account.ID, page web.Page) (
		map[account.ID]*web.List[comment.Written], error) {
		return q.load.Comments.ListBy(showing(ctx, media), viewer(ctx), of, o, page)
	}
	return pages[comment.Written]{kind: "IssueCommentConnection", rank: rankBy(desc, func(c comment.Written) []any {
		if o.Updated {
			return []any{c.UpdatedAt, c.ID}
		}
		return []any{c.ID}
	}), many: accountsPager[comment.Written]{fmt.Sprint("comments by ", media, o),
		"GET /repos/{owner}/{repo}/issues/comments", read},
		node: func(c comment.Written) (any, error) {
			return newComment(inRepositoryOf(c.In), nil, c.Payload, media), nil
		}}, err
}
