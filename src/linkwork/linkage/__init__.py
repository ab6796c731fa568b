"""The model: links, joints, shapes, the tree, poses, forward kinematics, Jacobians, mass."""
