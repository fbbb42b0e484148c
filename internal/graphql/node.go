package graphql

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// parseNode splits a node id of REST into a kind and a number. The id of a Git object is the id of its kind
// and the repository's number, encoded again with a name after it.
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

// parsePlain splits a decoded node id: Issue:7.
func parsePlain(text string) (kind string, number int64, ok bool) {
	kind, digits, _ := strings.Cut(text, ":")
	number, ok = web.ParseNumber(digits)
	return kind, number, ok
}

// node resolves Query.node.
func node(ctx context.Context, f *exec.Field) (any, error) {
	return queryOf(ctx).find(ctx, f.Args["id"].(string))
}

// maxNodes limits the nodes of one field.
const maxNodes = 100

// nodes resolves Query.nodes. A node that is not found is null and has an error.
func nodes(ctx context.Context, f *exec.Field) (any, error) {
	given := f.Args["ids"].([]any)
	if len(given) > maxNodes {
		return nil, &exec.Error{Type: "ARGUMENT_LIMIT",
			Message: "You may not provide more than 100 node ids; you provided " +
				strconv.Itoa(len(given)) + "."}
	}
	ids, list := make([]string, len(given)), make([]any, len(given))
	for n, id := range given {
		ids[n] = id.(string)
	}
	for n, found := range queryOf(ctx).findAll(ctx, ids) {
		if list[n] = found.value; found.err != nil {
			list[n] = asError(found.err)
		}
	}
	return list, nil
}

// nodeID is a decoded node id.
type nodeID struct {
	kind   string
	number int64
	name   string
}

// lookup is the result of a search for a node.
type lookup struct {
	value any
	err   error
}

// lookupOf returns what was found, or the error.
func lookupOf(o *object, err error) lookup {
	if err != nil {
		return lookup{err: err}
	}
	return lookup{value: o}
}

// find returns the node of an id, which must be of one of the kinds, see findAll.
func (q *query) find(ctx context.Context, id string, kinds ...string) (any, error) {
	found := q.findAll(ctx, []string{id}, kinds...)[0]
	return found.value, found.err
}

// findAll returns the nodes of ids and queries all of a kind together. The database finds their
// repositories, and their features load them with the caller's rights there. Errors: NOT_FOUND with the
// same message for a node that is absent, hidden or of another kind; FORBIDDEN if the token lacks the
// permission.
func (q *query) findAll(ctx context.Context, ids []string, kinds ...string) []lookup {
	found, places, groups := make([]lookup, len(ids)), map[string][]int{}, map[string][]nodeID{}
	for n, id := range ids {
		kind, number, name, ok := parseNode(id)
		if !ok || len(kinds) > 0 && !slices.Contains(kinds, kind) {
			found[n].err = unresolvedNode(id)
			continue
		}
		group := kind
		if name != "" {
			group += ":"
		}
		places[group] = append(places[group], n)
		groups[group] = append(groups[group], nodeID{kind, number, name})
	}
	for group, list := range groups {
		for k, l := range q.findKind(ctx, list) {
			at := places[group][k]
			found[at] = l.checked(ids[at], list[k].kind)
		}
	}
	return found
}

// checked returns the result for a node id with its errors.
func (l lookup) checked(id, kind string) lookup {
	o, isObject := l.value.(*object)
	switch {
	case errs.Is(l.err, errs.NotFound), errs.Is(l.err, errs.Gone), l.err == nil && l.value == nil,
		l.err == nil && isObject && o.kind != cmp.Or(otherKinds[kind], kind):
		return lookup{err: unresolvedNode(id)}
	case l.err != nil:
		return lookup{err: asError(l.err)}
	}
	return l
}

// otherKinds are the types whose names in REST's node ids differ.
var otherKinds = map[string]string{"Status": "StatusContext"}

// findKind returns the nodes of one kind.
func (q *query) findKind(ctx context.Context, ids []nodeID) []lookup {
	switch kind := ids[0].kind; kind {
	case "User", "Organization", "Bot", "Mannequin":
		return q.findAccounts(ctx, ids)
	case "Team":
		return q.findTeams(ctx, ids)
	case "Repository":
		return q.findRepositories(ctx, ids)
	case "StatusCheckRollup", "Status":
		if ids[0].name != "" {
			return q.findRollups(ctx, ids)
		}
		if kind == "Status" {
			return q.findStatuses(ctx, ids)
		}
	case "PullRequestCommit":
		return q.findPullCommits(ctx, ids)
	case "Ref", "Commit", "Tree", "Blob", "Tag":
		return q.findInGit(ctx, ids)
	case "BranchProtectionRule", "RepositoryRuleset":
		return q.findRules(ctx, ids)
	case "MergeQueue", "MergeQueueEntry":
		return q.findQueues(ctx, ids)
	case "SavedReply":
		return q.findReplies(ctx, ids)
	case "LinkedBranch":
		return q.findLinkedBranches(ctx, ids)
	default:
		if slices.Contains(trackerKinds, kind) {
			return q.findInTracker(ctx, ids)
		}
	}
	return make([]lookup, len(ids))
}

// failures returns n failed lookups.
func failures(err error, n int) []lookup {
	list := make([]lookup, n)
	for k := range list {
		list[k].err = err
	}
	return list
}

func (q *query) findRepositories(ctx context.Context, ids []nodeID) []lookup {
	repos, err := q.repositoriesByID(ctx, numbersOf(ids))
	if err != nil {
		return failures(err, len(ids))
	}
	found := make([]lookup, len(ids))
	for n, id := range ids {
		if r := repos[id.number]; r != nil {
			found[n].value = r
		}
	}
	return found
}

func numbersOf(ids []nodeID) []int64 {
	numbers := make([]int64, len(ids))
	for n, id := range ids {
		numbers[n] = id.number
	}
	return numbers
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
