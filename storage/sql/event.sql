-- SPDX-License-Identifier: MIT
--
-- Events: changes of state, written in the transaction that makes them.

-- private st_event_trim(event ev, int keep)
DELETE FROM event
WHERE kind = :ev.kind AND resource_id = :ev.resource_id
AND seq <= (SELECT seq FROM event WHERE kind = :ev.kind AND resource_id = :ev.resource_id
ORDER BY seq DESC LIMIT 1 OFFSET :keep);

-- private st_event_insert(event ev)
INSERT INTO {+event};

-- Events in the order in which they were made, with numbers above `after`, at most `limit`.
-- st_event_since(st_page page) -> event*
SELECT {event} FROM event e WHERE e.seq > :page.after ORDER BY e.seq LIMIT :page.limit;

-- The same with numbers below `before`, the newest first.
-- st_event_before(i64 before, int limit) -> event*
SELECT {event} FROM event e WHERE e.seq < :before ORDER BY e.seq DESC LIMIT :limit;

-- The number of the newest.
-- private st_event_newest() -> i64 seq
SELECT coalesce(max(seq), 0) FROM event;

-- All that are kept of a resource, in order.
-- st_event_of(resource_kind kind, i64 resource_id) -> event*
SELECT {event} FROM event e WHERE e.kind = :kind AND e.resource_id = :resource_id ORDER BY e.seq;

-- Whether a kept event of the resource has this reason.
-- st_event_told(resource_kind kind, i64 resource_id, text reason) -> bool told
SELECT EXISTS (SELECT 1 FROM event WHERE kind = :kind AND resource_id = :resource_id AND reason = :reason);

-- A getter: the number of the nth newest of those with lower numbers than `before`.
-- st_event_nth(i64 before, int nth) -> i64? at
SELECT seq FROM event WHERE seq < :before ORDER BY seq DESC LIMIT 1 OFFSET :nth - 1;

-- Whether the oldest event was made before `before_us`, or has a lower number than `before`.
-- st_event_any_old(i64 before_us, i64 before) -> bool any
SELECT EXISTS (SELECT 1 FROM event WHERE seq = (SELECT min(seq) FROM event)
AND (at_us < :before_us OR seq < :before));

-- Forgets such events among the oldest `limit` ones.
-- st_event_forget_old(i64 before_us, i64 before, int limit) -> count gone
DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE seq > 0 ORDER BY seq LIMIT :limit)
AND (at_us < :before_us OR seq < :before);

-- st_event_forget(resource_kind kind, i64 resource_id)
DELETE FROM event WHERE kind = :kind AND resource_id = :resource_id;
