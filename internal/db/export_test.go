package db

// OpenWith is Open with other migrations than the embedded ones.
var OpenWith = open
