// Package admission decides which requests the server takes on at one time.
//
//   - ticket.go: what one request holds; Memory asks for more
package admission
