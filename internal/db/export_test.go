package db

// OpenWith is Open with other migrations than the embedded ones.
var OpenWith = open

// MaxMoment is how long a request relies on one moment.
const MaxMoment = maxMoment
