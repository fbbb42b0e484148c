package graphql

import (
	"context"

	"arbor/internal/checkrun"
	"arbor/internal/commitcomment"
	"arbor/internal/db"
	"arbor/internal/deployment"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// trackerKinds are the types of things in repositories that have node ids with their ids.
var trackerKinds = []string{"Issue", "PullRequest", "IssueComment", "PullRequestReview", review.CommentResource,
	review.ThreadKind, "Label", "Milestone", "Release", "CheckRun", "CheckSuite", "Deployment", "DeploymentStatus",
	"Environment", commitcomment.Resource}

// fillerOf loads the whole values of objects as o.
func (q *query) fillerOf(o *object) filler {
	switch o.kind {
	case "User", "Organization", "Bot", "Mannequin":
		return accounts{}
	case "Repository":
		return wholeRepositories(q)
	case "Commit":
		return namedCommits(q)
	case "Ref":
		return namedRefs(q)
	case "Tag":
		return namedTags(q)
	case "Issue":
		return numberedIssues(q, o.media)
	case "PullRequest":
		return numberedPulls(q, o.media)
	case "IssueComment":
		return commentsByID(q, o.media)
	case commitcomment.Resource:
		return commitCommentsByID(q, o.media)
	case "PullRequestReview":
		return reviewsByID(q, o.media)
	case review.CommentResource:
		return reviewCommentsByID(q, o.media)
	case review.ThreadKind:
		return threadsByRoot(q)
	case "Label":
		return labelsNamed(q)
	case "Milestone":
		return numberedMilestones(q)
	case "Release":
		return releasesByID(q, o.media)
	case "CheckRun":
		return runsByID(q)
	case "CheckSuite":
		return suitesByID(q)
	case "Deployment":
		return deploymentsByID(q)
	case "DeploymentStatus":
		return deploymentStatusesByID(q)
	case "Environment":
		return environmentsByID(q)
	case "StatusContext":
		return statusesByID(q)
	}
	return noFiller{}
}

// noFiller is for types whose objects are always whole.
type noFiller struct{}

func (noFiller) fill(_ context.Context, _ *query, objects []*object) map[*object]error {
	failed := map[*object]error{}
	for _, o := range objects {
		failed[o] = errs.Absent()
	}
	return failed
}

// findInTracker finds things of one kind that are in repositories.
func (q *query) findInTracker(ctx context.Context, ids []nodeID) []lookup {
	kind := ids[0].kind
	spots, err := db.Get(ctx, q.do.DB, func(tx *db.Tx) (map[int64]spot, error) {
		return locate(tx, kind, db.Unique(numbersOf(ids)))
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
	missing := q.fill(ctx, list, isWhole)
	for n, id := range ids {
		if o := objects[id.number]; o != nil {
			found[n] = lookupOf(o, missing[o])
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

// spot is where a thing is, and what names it there besides its id.
type spot struct {
	repo   repo.ID
	number int64
	name   string
}

// object is what is known of a thing at a spot.
func (at spot) object(kind string, in *object, id int64) *object {
	o := &object{kind: kind, id: id, number: at.number, name: at.name, media: "raw", repo: in}
	if kind == "PullRequestReview" {
		o.number, o.of = 0, pullAt(in, at.number, "raw")
	}
	return o
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
	case commitcomment.Resource:
		return in(commitcomment.Places(tx, ids))
	case "Release":
		return in(release.Places(tx, ids))
	case "CheckRun", "CheckSuite":
		return in(checkrun.Places(tx, ids, kind == "CheckSuite"))
	case "Deployment":
		return in(deployment.Places(tx, ids))
	case "DeploymentStatus":
		return in(deployment.StatusPlaces(tx, ids))
	case "Environment":
		return in(deployment.EnvironmentPlaces(tx, ids))
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
