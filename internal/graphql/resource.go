package graphql

import (
	"context"
	"net/url"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
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
		data, err := q.object(ctx, Question{Path: web.Path("users", names[0])})
		return newAccount(data), err
	}
	in, err := q.repository(ctx, names[0], names[1])
	if err != nil || len(names) == 2 {
		return in, err
	}
	if len(names) == 3 {
		return nil, errs.Absent()
	}
	switch last := names[3]; names[2] {
	case "issues", "pull":
		data, err := q.object(ctx, Question{Path: in.path("issues", last)})
		if err != nil {
			return nil, err
		}
		o, err := newIssue(in, data, "raw")
		if err != nil {
			return nil, err
		}
		o.whole = o.kind == "Issue"
		return o, nil
	case "milestone":
		return q.thing(ctx, "Milestone", in, in.path("milestones", last))
	case "commit":
		data, err := q.object(ctx, Question{Path: in.path("commits", last)})
		if err != nil {
			return nil, err
		}
		return listedCommit(in, data)
	case "runs":
		return q.thing(ctx, "CheckRun", in, in.path("check-runs", last))
	case "releases":
		if last == "tag" && len(names) > 4 {
			return q.releaseAt(ctx, in, in.path("releases",
				"tags")+"/"+escapeRef(strings.Join(names[4:], "/")))
		}
	}
	return nil, errs.Absent()
}
