-- SPDX-License-Identifier: MIT
-- Numbers of machines: no sum of them may leave its range (USAGE_MOST), or the end of an allocation could not be written.

UPDATE batch_count SET
    user_us = min(user_us, 1 << 60),
    kernel_us = min(kernel_us, 1 << 60),
    read_bytes = min(read_bytes, 1 << 60),
    write_bytes = min(write_bytes, 1 << 60),
    read_ops = min(read_ops, 1 << 60),
    write_ops = min(write_ops, 1 << 60)
WHERE max(user_us, kernel_us, read_bytes, write_bytes, read_ops, write_ops) > 1 << 60;

DROP TRIGGER usage_counted;
CREATE TRIGGER usage_counted AFTER INSERT ON usage WHEN NEW.measured = 1 AND NEW.owner_kind = 12
BEGIN
    UPDATE batch_count SET
        user_us = min(user_us + NEW.user_us, 1 << 60),
        kernel_us = min(kernel_us + NEW.kernel_us, 1 << 60),
        read_bytes = min(read_bytes + NEW.read_bytes, 1 << 60),
        write_bytes = min(write_bytes + NEW.write_bytes, 1 << 60),
        read_ops = min(read_ops + NEW.read_ops, 1 << 60),
        write_ops = min(write_ops + NEW.write_ops, 1 << 60)
    WHERE job_id = (SELECT job_id FROM batch_task WHERE id = NEW.owner_id);
END;
