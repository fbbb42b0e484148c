package graphql

import (
	"context"
	"net/url"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// resource is Query.resource: what a page of this server is about. Null for any other address, and for what
// the caller does not see.
func resource(ctx context.Context, f *exec.Field) (any, error) {
	text, _ := f.Args["url"].(string)
	u, err := url.Parse(text)
	if err != nil {
		return nil, nil
	}
	path := u.EscapedPath()
	if u.Host != "" {
		here, err := url.Parse(siteOf(ctx))
		if err != nil || !strings.EqualFold(here.Host, u.Host) {
			return nil, err
		}
	}
	var names []string
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		name, err := url.PathUnescape(segment)
		if err != nil || name == "" {
			return nil, nil
		}
		names = append(names, name)
	}
	v, err := queryOf(ctx).resource(ctx, names)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Gone) || errs.Is(err, errs.Invalid) ||
		errs.Is(err, errs.Conflict) {
		return nil, nil
	}
	return v, err
}

// resource finds what the page of a path is about. Error: 404.
func (q *query) resource(ctx context.Context, names []string) (any, error) {
	switch len(names) {
	case 0:
		return nil, errs.Absent()
	case 1:
		return q.accountAt(ctx, names[0])
	}
	in, err := q.repository(ctx, names[0]+"/"+names[1])
	if err != nil || len(names) == 2 {
		return in, err
	}
	if len(names) == 3 {
		return nil, errs.Absent()
	}
	switch last := names[3]; names[2] {
	case "issues", "pull":
		if number, ok := web.ParseNumber(last); ok {
			return q.issueOrPull(ctx, issueAt(in, number, "raw"))
		}
	case "milestone":
		if number, ok := web.ParseNumber(last); ok {
			return q.whole(ctx, &object{kind: "Milestone", number: number, repo: in})
		}
	case "commit":
		sha, err := commitNamed(q, last).get(ctx, q, in)
		if err != nil {
			return nil, err
		}
		return gitObject(in, "commit", string(sha)), nil
	case "runs":
		id, _ := web.ParseNumber(last)
		return q.whole(ctx, &object{kind: "CheckRun", id: id, repo: in})
	case "releases":
		if last == "tag" && len(names) > 4 {
			tag := strings.Join(names[4:], "/")
			r, err := releasesTagged(q, func(*object) string { return tag }).get(ctx, q, in)
			if err != nil || r == nil {
				return nil, err
			}
			return newRelease(in, r), nil
		}
	}
	return nil, errs.Absent()
}

// whole loads the whole value of an object and returns it. Error: 404.
func (q *query) whole(ctx context.Context, o *object) (*object, error) {
	if err := q.loadOne(ctx, o, isWhole); err != nil {
		return nil, err
	}
	return o, nil
}

// commitNamed loads the commit of a name in repositories.
func commitNamed(q *query, name string) loader[string, git.SHA] {
	return perRepository("commit "+name, "/commits/{ref...}",
		func(ctx context.Context, list []*repo.Access) (map[repo.ID]git.SHA, error) {
			found := map[repo.ID]git.SHA{}
			for _, a := range list {
				var err error
				if found[a.ID], err = q.load.Git.CommitNamed(ctx, a, name); err != nil {
					return nil, err
				}
			}
			return found, nil
		})
}
