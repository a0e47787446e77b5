-- SPDX-License-Identifier: MIT
-- A file aside that neither index has, and no change under way, is nobody's, and is removed.

CREATE INDEX share_item_by_aside ON share_item (aside) WHERE aside IS NOT NULL;
CREATE INDEX blob_snapshot_by_aside ON blob_snapshot (aside);
