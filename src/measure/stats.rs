//! Statistics of visits.
