package notification

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of notifications. Also those of an archived repository are read and marked.
func (api *API) Routes() []route.Route {
	own := route.Needs(scope.PublicRepo|scope.Notifications, "metadata=read").ForApps(route.Never).ForUsers(route.Nobody)
	ofRepo := api.s.repos.Router(own)
	return []route.Route{
		own.SignedIn("GET /notifications", api.List),
		own.SignedIn("PUT /notifications", api.MarkAll),
		own.SignedIn("GET /notifications/threads/{thread_id}", api.Get),
		own.SignedIn("PATCH /notifications/threads/{thread_id}", api.MarkRead),
		own.SignedIn("DELETE /notifications/threads/{thread_id}", api.Finish),
		own.SignedIn("GET /notifications/threads/{thread_id}/subscription", api.GetSubscription),
		own.SignedIn("PUT /notifications/threads/{thread_id}/subscription", api.SetSubscription),
		own.SignedIn("DELETE /notifications/threads/{thread_id}/subscription", api.DeleteSubscription),
		ofRepo.SignedIn("GET /repos/{owner}/{repo}/notifications", api.ListOfRepo),
		ofRepo.OnArchived().SignedIn("PUT /repos/{owner}/{repo}/notifications", api.MarkRepo),
	}
}
