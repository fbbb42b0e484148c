package graphql

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"arbor/internal/account"
	sshkey "arbor/internal/account/key"
	"arbor/internal/account/savedreply"
	"arbor/internal/activity"
	"arbor/internal/checkrun"
	"arbor/internal/codeowner"
	"arbor/internal/commitcomment"
	"arbor/internal/deployment"
	"arbor/internal/detect"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/invitation"
	"arbor/internal/issue"
	"arbor/internal/issue/branch"
	"arbor/internal/issue/comment"
	"arbor/internal/issue/revision"
	"arbor/internal/issue/subscription"
	"arbor/internal/issue/timeline"
	"arbor/internal/label"
	"arbor/internal/markup"
	"arbor/internal/milestone"
	"arbor/internal/notification"
	"arbor/internal/pin"
	"arbor/internal/pull"
	"arbor/internal/reaction"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/repo/collaborator"
	"arbor/internal/repo/list"
	"arbor/internal/repo/network"
	"arbor/internal/review"
	"arbor/internal/rule"
	"arbor/internal/search"
	"arbor/internal/signature"
	"arbor/internal/star"
	"arbor/internal/status"
	"arbor/internal/team"
)

// Loaders are the features that load the data of many objects of a repository.
type Loaders struct {
	Repos     *repo.Service
	Pulls     *pull.API
	Reviews   *review.API
	Issues    *issue.Service
	Comments  *comment.API
	Timelines *timeline.API
	Revisions *revision.Service

	Subscriptions *subscription.Service
	Branches      *branch.API
	Statuses      *status.API
	Checks        *checkrun.API
	Reactions     *reaction.Many
	Git           *gitdata.Service

	Signatures *signature.Service
	Labels     *label.API
	Milestones *milestone.API
	Releases   *release.API
	Rules      *rule.Service

	Searches         *search.Service
	FindRepositories func(context.Context, search.Question) (*search.Hits[*repo.Access], error)
	FindAccounts     func(context.Context, search.Question) (*search.Hits[*account.Account], error)

	Accounts      *account.Service
	Replies       *savedreply.Service
	Markups       *markup.Service
	Teams         *team.Service
	Lists         *list.Service
	Stars         *star.Service
	Pins          *pin.Service
	Languages     *detect.Service
	Collaborators *collaborator.Service
	Networks      *network.Service
	Owners        *codeowner.Service
	Activities    *activity.Service
	Keys          *sshkey.Service
	Invitations   *invitation.Service
	Deployments   *deployment.Service
	OnCommits     *commitcomment.Service
	Notifications *notification.Service
}

// loader loads a value for each of many objects of any repositories, at most maxLoaded in a call. An object that the
// feature omits has none.
type loader[K comparable, V any] struct {
	name  string // distinguishes its values from those of other loaders
	route string // below the repository: whose right and token permission are required, /issues/{number}
	media string // of texts; empty: raw
	key   func(o *object) K
	check func(a *repo.Access) error // what else a repository must have; nil: nothing
	read  func(ctx context.Context, list []repo.Of[K]) (map[repo.Of[K]]V, error)
	size  func(v V) int64 // in bytes; nil: see sizeOf
}

// maxLoaded limits the objects of one call.
const maxLoaded = 100

func (l loader[K, V]) keyOf(o *object) string {
	return fmt.Sprint(l.name, " ", o.home().name, l.route, " ", l.media, " ", l.key(o))
}

// load loads the values of the objects that have none yet.
func (l loader[K, V]) load(ctx context.Context, q *query, objects []*object) {
	var missing []*object
	seen := map[string]bool{}
	for _, o := range objects {
		key := l.keyOf(o)
		if _, there := q.kept[key]; !there && !seen[key] {
			missing, seen[key] = append(missing, o), true
		}
	}
	for part := range slices.Chunk(missing, maxLoaded) {
		found, of, failed := l.call(ctx, q, part)
		sum := int64(0)
		for _, o := range part {
			v, there := found[of[o]]
			bytes := sizeOf(v)
			if l.size != nil {
				bytes = l.size(v)
			}
			err := failed[o]
			if sum += bytes; err == nil && sum > maxRows {
				err = errs.New(errs.TooLarge, "The query loads too much data: request fewer fields, or smaller pages.")
			}
			q.kept[l.keyOf(o)] = kept{value: v, there: there, err: cmp.Or(err, q.hold(ctx, bytes))}
		}
	}
}

// call reads the values of objects with the caller's access to their repositories. An object that the caller
// may not read has an error.
func (l loader[K, V]) call(ctx context.Context, q *query, objects []*object) (
	found map[repo.Of[K]]V, of map[*object]repo.Of[K], failed map[*object]error,
) {
	repos := make([]*object, len(objects))
	for n, o := range objects {
		repos[n] = o.home()
	}
	in, err := q.accesses(ctx, l.route, repos)
	of, failed = map[*object]repo.Of[K]{}, map[*object]error{}
	var list []repo.Of[K]
	for n, o := range objects {
		at := in[repos[n].name]
		if failed[o] = cmp.Or(err, at.err); failed[o] == nil && l.check != nil {
			failed[o] = l.check(at.access)
		}
		if failed[o] == nil {
			of[o] = repo.Of[K]{In: at.access, Key: l.key(o)}
			list = append(list, of[o])
		}
	}
	if len(list) == 0 {
		return nil, of, failed
	}
	caller := q.permitRead(ctx, addressOf(l.route)).caller
	found, err = l.read(showing(account.WithCaller(ctx, caller), l.media), list)
	for o, at := range of {
		failed[o] = repo.ErrorOf(err, at.In.ID)
	}
	q.noteError(err)
	return found, of, failed
}

// get returns the value of an object, or zero if it has none. It loads the value if no call for several objects did.
func (l loader[K, V]) get(ctx context.Context, q *query, o *object) (v V, err error) {
	l.load(ctx, q, []*object{o})
	k := q.kept[l.keyOf(o)]
	v, _ = k.value.(V)
	return v, k.err
}

// known returns the value of an object that is already loaded.
func (l loader[K, V]) known(q *query, o *object) (v V, there bool) {
	v, there = q.kept[l.keyOf(o)].value.(V)
	return v, there
}

// values returns a field's values for its parents from the loaded ones.
func (l loader[K, V]) values(
	ctx context.Context, parents []exec.Object, show func(o *object, v V) (any, error),
) []any {
	q, objects, values := queryOf(ctx), objectsOf(parents), make([]any, len(parents))
	l.load(ctx, q, objects)
	for n, o := range objects {
		v, err := l.get(ctx, q, o)
		if err == nil {
			values[n], err = show(o, v)
		}
		if err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

// fill sets the values of objects and returns the errors of those without one: 404 for one that the feature omits.
func (l loader[K, V]) fill(ctx context.Context, q *query, objects []*object) map[*object]error {
	l.load(ctx, q, objects)
	failed := map[*object]error{}
	for _, o := range objects {
		k := q.kept[l.keyOf(o)]
		switch {
		case k.err != nil:
			failed[o] = k.err
		case !k.there:
			failed[o] = errs.Absent()
		default:
			o.set(k.value)
		}
	}
	return failed
}

// filler is a loader of objects' whole values.
type filler interface {
	fill(ctx context.Context, q *query, objects []*object) (failed map[*object]error)
}

// fill loads the whole values of those objects of one type of which not enough is loaded, together.
func (q *query) fill(
	ctx context.Context, objects []*object, enough func(o *object) bool,
) (failed map[*object]error) {
	var missing []*object
	for _, o := range objects {
		if !enough(o) {
			missing = append(missing, o)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return q.fillerOf(missing[0]).fill(ctx, q, missing)
}

// loadOne loads the whole value of an object unless enough of it is loaded.
func (q *query) loadOne(ctx context.Context, o *object, enough func(o *object) bool) error {
	return q.fill(ctx, []*object{o}, enough)[o]
}

// objectsOf returns the parents of a field as objects.
func objectsOf(parents []exec.Object) []*object {
	objects := make([]*object, len(parents))
	for n, p := range parents {
		objects[n] = p.(*object)
	}
	return objects
}

// byNumber, byID and byName return the keys of objects.
func byNumber(o *object) int64 { return o.number }
func byID(o *object) int64     { return o.id }
func byName(o *object) string  { return o.name }
func bySHA(o *object) git.SHA  { return git.SHA(o.name) }
func noKey(*object) string     { return "" }
