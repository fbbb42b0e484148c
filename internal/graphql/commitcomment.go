package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/commitcomment"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// newCommitComment returns a comment on a commit.
func newCommitComment(in *object, c *commitcomment.Shown, media string) *object {
	return &object{kind: commitcomment.Resource, value: c, whole: true, id: c.ID, repo: in, media: media}
}

// commitCommentsByID loads comments on commits by id.
func commitCommentsByID(q *query, media string) loader[int64, *commitcomment.Shown] {
	return loader[int64, *commitcomment.Shown]{name: "commit comments by id", route: "/comments/{id}", media: media,
		key: byID, read: q.load.OnCommits.ByIDs}
}

// commitComments returns a list of comments on commits without its loader.
func commitComments(media string, in func(c *commitcomment.Shown) *object) pages[*commitcomment.Shown] {
	return pages[*commitcomment.Shown]{kind: "CommitCommentConnection",
		rank: rankByID(func(c *commitcomment.Shown) int64 { return c.ID }),
		node: func(c *commitcomment.Shown) (any, error) { return newCommitComment(in(c), c, media), nil }}
}

// commitCommentLists loads comments on commits, or with noSHA on all commits of repositories.
func commitCommentLists(route, media string, key func(o *object) git.SHA) listLoader[git.SHA, *commitcomment.Shown] {
	l := loader[git.SHA, *web.List[*commitcomment.Shown]]{name: "commit comments", route: route, media: media, key: key}
	return lists(l, func(ctx context.Context, list []repo.Of[git.SHA], page web.Page) (
		map[repo.Of[git.SHA]]*web.List[*commitcomment.Shown], error) {
		return queryOf(ctx).load.OnCommits.ListMany(ctx, list, page)
	})
}

// commentsOnCommit resolves the comments on commits.
func commentsOnCommit(_ context.Context, f *exec.Field, o *object) (pages[*commitcomment.Shown], error) {
	media := textMedia(f)
	p := commitComments(media, func(*commitcomment.Shown) *object { return o.repo })
	p.many = commitCommentLists("/commits/{sha}/comments", media, bySHA)
	return p, nil
}

// commentsOnCommits resolves the comments on all commits of repositories.
func commentsOnCommits(_ context.Context, f *exec.Field, o *object) (pages[*commitcomment.Shown], error) {
	media := textMedia(f)
	p := commitComments(media, func(*commitcomment.Shown) *object { return o })
	p.many = commitCommentLists("/comments", media, func(*object) git.SHA { return "" })
	return p, nil
}

// commitCommentsBy resolves the comments on commits that users wrote where the caller sees them.
func commitCommentsBy(_ context.Context, f *exec.Field, _ *object) (pages[*commitcomment.Shown], error) {
	media := textMedia(f)
	p := commitComments(media, func(c *commitcomment.Shown) *object { return inRepositoryOf(c.In) })
	p.many = accountsPager[*commitcomment.Shown]{"commit comments " + media, "GET /repos/{owner}/{repo}/comments", func(
		ctx context.Context, q *query, of []account.ID, page web.Page,
	) (map[account.ID]*web.List[*commitcomment.Shown], error) {
		return q.load.OnCommits.ListBy(showing(ctx, media), viewer(ctx), of, page)
	}}
	return p, nil
}

// commitCommentFields are the fields of comments on commits.
func commitCommentFields() map[string]exec.Resolver {
	change := may(account.Push, true, nil)
	return after(isKnown, merge(reactable(), written(), editable(change, change), minimizable(), map[string]exec.Resolver{
		"publishedAt": ofWords(func(_ context.Context, w words) any { return w.created }),
		"repository":  inRepository,
		"path":        pick(func(c *commitcomment.Shown) any { return c.Path }),
		"position":    pick(func(c *commitcomment.Shown) any { return c.Position }),
		"commit": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return gitObject(o.repo, "commit", string(o.value.(*commitcomment.Shown).CommitID)), nil
		}),
	}))
}
