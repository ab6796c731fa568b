"""A ROS 2 node: a frame of a robot follows a target pose, one `ik.step` per cycle, within joint and velocity limits.

python follow_target.py --ros-args -p frame:=panda_hand -r joint_trajectory:=/panda_arm_controller/joint_trajectory
"""

import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import linkwork as lw


class FollowTarget(Node):
    """Subscribes to robot_description, joint_states and target_pose; publishes joint_trajectory."""

    def __init__(self) -> None:
        super().__init__("follow_target")
        self.frame = self.declare_parameter("frame", "tool0").value
        self.dt = 1.0 / self.declare_parameter("rate", 100.0).value
        self.speed = self.declare_parameter("speed", 0.5).value  # fraction of the velocity limits
        self.ik = self.measured = self.target = self.step = None
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_subscription(String, "robot_description", self.on_robot, latched)
        self.create_subscription(JointState, "joint_states", self.on_joints, 10)
        self.create_subscription(PoseStamped, "target_pose", self.on_target, 10)
        self.commands = self.create_publisher(JointTrajectory, "joint_trajectory", 10)
        self.create_timer(self.dt, self.on_cycle)

    def on_robot(self, message: String) -> None:
        """Prepare inverse kinematics for the robot of a URDF string."""
        self.robot = lw.loads(message.data, "urdf")
        self.ik, self.measured, self.target, self.step = lw.prepare(self.robot, self.frame), None, None, None

    def on_joints(self, message: JointState) -> None:
        """Store the measured pose, if the message has values for all joints."""
        values = dict(zip(message.name, message.position, strict=True))
        if self.ik is not None and values.keys() >= set(self.robot.coordinates):
            self.measured = self.robot.pose({name: values[name] for name in self.robot.coordinates})

    def on_target(self, message: PoseStamped) -> None:
        """Set the target, which may be given in the current frame of any link."""
        if self.measured is None:
            self.get_logger().warning("target ignored: waiting for robot_description and joint_states of all joints")
            return
        place, turn, base = message.pose.position, message.pose.orientation, message.header.frame_id
        try:
            target = lw.transforms.transform([place.x, place.y, place.z], {"xyzw": [turn.x, turn.y, turn.z, turn.w]})
            self.target = target if base in ("", "world") else self.robot.forward(self.measured, frame=base) @ target
        except lw.LinkworkError as error:
            self.get_logger().warning(f"target ignored: {error}")

    def on_cycle(self) -> None:
        """Command the next pose on the way to the target; the first step starts from the measured pose."""
        if self.target is None:
            return
        start = self.measured if self.step is None else self.step
        self.step = self.ik.step(self.target, start, self.dt, scale=self.speed)
        point = JointTrajectoryPoint(positions=self.step.q.tolist(), velocities=self.step.velocity.tolist())
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(round(1e9 * self.dt), 10**9)
        self.commands.publish(JointTrajectory(joint_names=list(self.robot.coordinates), points=[point]))
        if self.step.status in ("reached", "held"):
            self.get_logger().info(self.step.reason)
            self.target = self.step = None


if __name__ == "__main__":
    rclpy.init()
    rclpy.spin(FollowTarget())
