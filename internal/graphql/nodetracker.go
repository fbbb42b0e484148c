package graphql

import (
	"context"
	"strings"

	"arbor/internal/checkrun"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// payloadLoader loads the full payloads of objects.
type payloadLoader interface {
	load(ctx context.Context, q *query, objects []*object)
	get(ctx context.Context, q *query, o *object) (payload, error)
}

// nodeLoader loads things of a kind that are in a repository; nil for another kind.
func (q *query) nodeLoader(kind string) payloadLoader {
	switch o := (&object{kind: kind, source: source{Media: "raw"}}); kind {
	case "Repository", "Ref", "Commit", "Tag":
		return nil
	default:
		return q.loaderOf(o)
	}
}

// loaderOf loads the full payloads of objects as o; nil for a kind whose objects are always whole.
func (q *query) loaderOf(o *object) payloadLoader {
	switch o.kind {
	case "Repository":
		return wholeRepositories(q, o)
	case "Commit":
		return namedCommits(q, o)
	case "Ref":
		return namedRefs(q, o)
	case "Tag":
		return namedTags(q, o)
	case "Issue":
		return numberedIssues(q, o)
	case "PullRequest":
		return numberedPulls(q, o)
	case "IssueComment":
		return commentsByID(q, o)
	case "PullRequestReview":
		return reviewsByID(q, o)
	case review.CommentResource:
		return reviewCommentsByID(q, o)
	case review.ThreadKind:
		return threadsByRoot(q, o)
	case "Label":
		return labelsNamed(q, o)
	case "Milestone":
		return numberedMilestones(q, o)
	case "Release":
		return releasesByID(q, o)
	case "CheckRun":
		return runsByID(q, o)
	case "CheckSuite":
		return suitesByID(q, o)
	}
	return nil
}

// wholeOf loads the full payload of an object. Error: 404.
func (q *query) wholeOf(ctx context.Context, o *object) (payload, error) {
	switch o.kind {
	case "User", "Organization", "Bot":
		return q.accountNamed(ctx, textOf(o.data, "login"))
	}
	l := q.loaderOf(o)
	if l == nil {
		return o.data, nil
	}
	data, err := l.get(ctx, q, o)
	if err == nil && data == nil {
		err = errs.Absent()
	}
	return data, err
}

// findInTracker finds things of one kind that are in repositories.
func (q *query) findInTracker(ctx context.Context, ids []nodeID) []lookup {
	kind := ids[0].kind
	var spots map[int64]spot
	err := q.do.DB.Read(ctx, func(tx *db.Tx) (err error) {
		spots, err = locate(tx, kind, db.Unique(numbersOf(ids)))
		return err
	})
	if err != nil {
		return failures(err, len(ids))
	}
	repos, err := q.repositoriesOf(ctx, spots)
	if err != nil {
		return failures(err, len(ids))
	}
	found, objects := make([]lookup, len(ids)), map[int64]*object{}
	var list []*object
	for id, at := range spots {
		if in := repos[int64(at.repo)]; in != nil {
			objects[id] = at.object(kind, in, id)
			list = append(list, objects[id])
		}
	}
	if len(list) == 0 {
		return found
	}
	l := q.nodeLoader(kind)
	l.load(ctx, q, list)
	for n, id := range ids {
		if o := objects[id.number]; o != nil {
			found[n] = q.loaded(ctx, l, o)
		}
	}
	return found
}

// repositoriesOf finds the repositories of what is at spots.
func (q *query) repositoriesOf(ctx context.Context, spots map[int64]spot) (map[int64]*object, error) {
	var ids []int64
	for _, at := range spots {
		ids = append(ids, int64(at.repo))
	}
	return q.repositoriesByID(ctx, ids)
}

// loaded is a thing by what its feature has loaded of it.
func (q *query) loaded(ctx context.Context, l payloadLoader, o *object) lookup {
	if o.whole {
		return lookup{value: o}
	}
	data, err := l.get(ctx, q, o)
	if err == nil && data == nil {
		err = errs.Absent()
	}
	if err != nil {
		return lookup{err: err}
	}
	switch o.kind {
	case review.CommentResource:
		return lookup{value: newReviewComment(pullOf(o.repo, data), data, "raw")}
	case review.ThreadKind:
		comments, err := objectsIn(data.get("comments"))
		if err != nil || len(comments) == 0 {
			return lookup{err: err}
		}
		thread, err := newThread(pullOf(o.repo, comments[0]), data, "raw")
		return lookup{thread, err}
	}
	o.data, o.whole = data, true
	return lookup{value: o}
}

// pullOf is the pull request of a comment on a line.
func pullOf(in *object, comment payload) *object {
	at := textOf(comment, "pull_request_url")
	return pullAt(in, at[strings.LastIndexByte(at, '/')+1:], "raw")
}

// spot is where a thing is, and what names it there besides its id.
type spot struct {
	repo   repo.ID
	number int64
	name   string
}

// object is what is known of a thing at a spot.
func (at spot) object(kind string, in *object, id int64) *object {
	switch kind {
	case "Issue":
		return issueAt(in, decimal(at.number), "raw")
	case "PullRequest":
		return pullAt(in, decimal(at.number), "raw")
	case "PullRequestReview":
		return reviewAt(pullAt(in, decimal(at.number), "raw"), id)
	case "CheckSuite":
		return newSuite(in, withID(kind, id), false)
	case "IssueComment", "Release":
		o := newRelease(in, withID(kind, id))
		if kind == "IssueComment" {
			o = newComment(in, nil, withID(kind, id), "raw")
		}
		o.whole = false
		return o
	case "Label":
		return labelAt(in, at.name)
	case "Milestone":
		return milestoneAt(in, decimal(at.number))
	}
	return &object{kind: kind, data: withID(kind, id), repo: in}
}

// locate finds where things of a kind are. It checks no rights: what loads them there does. What is not there is
// missing.
func locate(tx *db.Tx, kind string, ids []int64) (map[int64]spot, error) {
	found := map[int64]spot{}
	in := func(repos map[int64]repo.ID, err error) (map[int64]spot, error) {
		for id, r := range repos {
			found[id] = spot{repo: r}
		}
		return found, err
	}
	switch kind {
	case "Issue", "PullRequest":
		list, err := issue.ByIDs(tx, asIDs[issue.ID](ids))
		for _, i := range list {
			found[int64(i.ID)] = spot{repo: i.RepoID, number: i.Number}
		}
		return found, err
	case "IssueComment":
		list, err := comment.ByIDs(tx, ids)
		for _, c := range list {
			found[c.ID] = spot{repo: c.RepoID}
		}
		return found, err
	case "PullRequestReview":
		list, err := review.Places(tx, ids)
		for id, at := range list {
			found[id] = spot{repo: at.Repo, number: at.Number}
		}
		return found, err
	case review.CommentResource:
		return in(review.CommentPlaces(tx, ids))
	case review.ThreadKind:
		return in(review.ThreadPlaces(tx, ids))
	case "Release":
		return in(release.Places(tx, ids))
	case "CheckRun", "CheckSuite":
		return in(checkrun.Places(tx, ids, kind == "CheckSuite"))
	case "Label":
		list, err := label.OfIssues(tx, ids)
		for id, l := range list {
			found[id] = spot{repo: l.RepoID, name: l.Name}
		}
		return found, err
	case "Milestone":
		list, err := milestone.ByIDs(tx, ids)
		for id, m := range list {
			found[id] = spot{repo: m.RepoID, number: m.Number}
		}
		return found, err
	}
	return nil, errs.Absent()
}

func asIDs[ID ~int64](ids []int64) []ID {
	list := make([]ID, len(ids))
	for n, id := range ids {
		list[n] = ID(id)
	}
	return list
}
