package graphql

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/checkrun"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/web"
)

// parseNode reads a node id as REST gives it: a kind and a number. That of something in Git is the id of its
// kind and the repository's number, once more with a name behind it.
func parseNode(id string) (kind string, number int64, name string, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		return "", 0, "", false
	}
	if kind, number, ok = parsePlain(string(b)); ok {
		return kind, number, "", true
	}
	inner, name, _ := strings.Cut(string(b), ":")
	if b, err = base64.RawURLEncoding.DecodeString(inner); err != nil {
		return "", 0, "", false
	}
	kind, number, ok = parsePlain(string(b))
	return kind, number, name, ok
}

// parsePlain reads what is in a node id: Issue:7.
func parsePlain(text string) (kind string, number int64, ok bool) {
	kind, digits, _ := strings.Cut(text, ":")
	number, ok = web.ParseNumber(digits)
	return kind, number, ok
}

// node is Query.node.
func node(ctx context.Context, f *exec.Field) (any, error) {
	return queryOf(ctx).find(ctx, f.Args["id"].(string))
}

// maxNodes is how many nodes one field asks for.
const maxNodes = 100

// nodes is Query.nodes: those that cannot be found are null, each with its error.
func nodes(ctx context.Context, f *exec.Field) (any, error) {
	ids := f.Args["ids"].([]any)
	if len(ids) > maxNodes {
		return nil, &exec.Error{Type: "ARGUMENT_LIMIT",
			Message: "You may not provide more than 100 node ids; you provided " +
				strconv.Itoa(len(ids)) + "."}
	}
	list := make([]any, len(ids))
	for n, id := range ids {
		v, err := queryOf(ctx).find(ctx, id.(string))
		if list[n] = v; err != nil {
			list[n] = asError(err)
		}
	}
	return list, nil
}

// find gives the thing that a node id names. The database tells its address, and the REST API is asked for
// it, which checks that the caller may see it. Errors: NOT_FOUND, in the same words whether the thing is
// absent, hidden or of another kind; FORBIDDEN for what the token is not for.
func (q *query) find(ctx context.Context, id string, kinds ...string) (any, error) {
	kind, number, name, ok := parseNode(id)
	if !ok || len(kinds) > 0 && !slices.Contains(kinds, kind) {
		return nil, unresolvedNode(id)
	}
	o, err := q.findKind(ctx, kind, number, name)
	switch {
	case errs.Is(err, errs.NotFound), errs.Is(err, errs.Gone), err == nil && o == nil:
		return nil, unresolvedNode(id)
	case err != nil:
		return nil, asError(err)
	}
	if found, ok := o.(*object); ok && found.kind != cmp.Or(otherKinds[kind], kind) {
		return nil, unresolvedNode(id)
	}
	return o, nil
}

// otherKinds are the types of what REST's node ids call otherwise.
var otherKinds = map[string]string{"Status": "StatusContext"}

func (q *query) findKind(ctx context.Context, kind string, id int64, name string) (any, error) {
	switch kind {
	case "User", "Organization", "Bot":
		data, err := q.object(ctx, Question{Path: "/user/" + strconv.FormatInt(id, 10)})
		return newAccount(data), err
	case "Repository":
		return q.repositoryByID(ctx, repo.ID(id))
	case "StatusCheckRollup", "Status":
		if name != "" {
			return q.findRollup(ctx, kind, repo.ID(id), name)
		}
		if kind == "Status" {
			return q.findStatus(ctx, id)
		}
	case "PullRequestCommit":
		return q.findPullCommit(ctx, id, name)
	case "Ref", "Commit", "Tree", "Blob", "Tag":
		return q.findInGit(ctx, kind, repo.ID(id), name)
	case review.CommentResource, review.ThreadKind:
		return q.findInReviews(ctx, kind, id)
	case "LinkedBranch":
		link, _, err := q.linkedBranch(ctx, account.NodeID(kind, id), id)
		if err != nil {
			return nil, err
		}
		return link, nil
	case "Issue", "PullRequest", "PullRequestReview", "IssueComment", "Label", "Milestone",
		"Release", "CheckRun",
		"CheckSuite":
		return q.findInTracker(ctx, kind, id)
	}
	return nil, errs.Absent()
}

func (q *query) repositoryByID(ctx context.Context, id repo.ID) (*object, error) {
	data, err := q.object(ctx, Question{Path: "/repositories/" + strconv.FormatInt(int64(id), 10)})
	if err != nil {
		return nil, err
	}
	r := newRepository(data)
	r.whole = true
	return r, nil
}

func (q *query) findInGit(ctx context.Context, kind string, in repo.ID, name string) (any, error) {
	r, err := q.repositoryByID(ctx, in)
	if err != nil {
		return nil, err
	}
	if kind == "Ref" {
		return q.ref(ctx, r, name)
	}
	if _, err := git.ParseSHA(name); err != nil {
		return nil, errs.Absent()
	}
	at, err := q.nameOf(ctx, r, name)
	if err != nil {
		return nil, err
	}
	if textOf(at, "type") != strings.ToLower(kind) {
		return nil, errs.Absent()
	}
	return gitObject(r, strings.ToLower(kind), name), nil
}

// spot is where a thing of the tracker is.
type spot struct {
	repo repo.ID // 0: nowhere
	path []string
}

// findInTracker finds what is in a repository by its id.
func (q *query) findInTracker(ctx context.Context, kind string, id int64) (any, error) {
	at, err := placed(ctx, q, kind+decimal(id), func(tx *db.Tx) (spot, error) { return locate(tx, kind, id) })
	if err != nil {
		return nil, err
	}
	r, err := q.repositoryByID(ctx, at.repo)
	if err != nil {
		return nil, err
	}
	data, err := q.object(ctx, Question{Path: r.path(at.path...)})
	if err != nil {
		return nil, err
	}
	switch kind {
	case "PullRequest":
		return newPull(r, data, "raw"), nil
	case "Issue":
		o, err := newIssue(r, data, "raw")
		if err == nil {
			o.whole = true
		}
		return o, err
	case "IssueComment":
		return newComment(r, nil, data, "raw"), nil
	case "PullRequestReview":
		return newReview(r, pullAt(r, at.path[1]), data, "raw"), nil
	case "Release":
		return newRelease(r, data), nil
	case "CheckSuite":
		return newSuite(r, data, true), nil
	}
	return &object{kind: kind, data: data, whole: true, repo: r}, nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// locate finds the address of a thing. It checks no rights: asking for the address does. Error: 404.
func locate(tx *db.Tx, kind string, id int64) (at spot, err error) {
	switch kind {
	case "Issue", "PullRequest":
		list, err := issue.ByIDs(tx, []issue.ID{issue.ID(id)})
		if err != nil {
			return at, err
		}
		for _, i := range list {
			at = spot{i.RepoID, []string{"issues", decimal(i.Number)}}
			if kind == "PullRequest" {
				at.path[0] = "pulls"
			}
		}
	case "IssueComment":
		list, err := comment.ByIDs(tx, []int64{id})
		if err != nil {
			return at, err
		}
		for _, c := range list {
			at = spot{c.RepoID, []string{"issues", "comments", decimal(c.ID)}}
		}
	case "PullRequestReview":
		in, number, err := review.Place(tx, id)
		return spot{in, []string{"pulls", decimal(number), "reviews", decimal(id)}}, err
	case "Release":
		in, err := release.Place(tx, id)
		return spot{in, []string{"releases", decimal(id)}}, err
	case "CheckRun":
		in, err := checkrun.Place(tx, id, false)
		return spot{in, []string{"check-runs", decimal(id)}}, err
	case "CheckSuite":
		in, err := checkrun.Place(tx, id, true)
		return spot{in, []string{"check-suites", decimal(id)}}, err
	case "Label":
		found, err := label.OfIssues(tx, []int64{id})
		if err != nil {
			return at, err
		}
		for _, l := range found {
			at = spot{l.RepoID, []string{"labels", l.Name}}
		}
	case "Milestone":
		found, err := milestone.ByIDs(tx, []int64{id})
		if err != nil {
			return at, err
		}
		for _, m := range found {
			at = spot{m.RepoID, []string{"milestones", decimal(m.Number)}}
		}
	}
	if at.repo == 0 {
		return at, errs.Absent()
	}
	return at, nil
}
